#!/usr/bin/env python3
"""train.py: the pruner's background table and weights, from ../shared/eval.

`make train` builds $B/features and runs this: the stems of the training texts
become data/prune_background.h; then, with the features that the program itself
computes, logistic models per part (code, logs, docs) of what a goal's term
tells (TERM_WEIGHTS) and of what a line is worth (LINE_WEIGHTS), and small trees
that see what a sum cannot (LINE_TREES), become data/prune_weights.h. Chosen on valid.jsonl.gz; dev.jsonl.gz is only measured
(--dev), never learned from.

A line's score is a density: in each item the gold lines share a weight of 1,
the others share a weight of 1 in proportion to their tokens. docs/PRUNING.md
says what that brought.
"""
import argparse, collections, gzip, json, math, multiprocessing, os, random, re, struct, subprocess, sys, zlib
import numpy as np
from sklearn.linear_model import LogisticRegression

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
EVAL = os.path.join(ROOT, '..', 'shared', 'eval')
B = os.environ.get('B', 'build')
PARTS = ['code', 'logs', 'docs']
REACHES = 3
NEGATIVES = 100
SLOTS = 1 << 15
TREES, ASKS, STEPS, ONE = 150, 4, 32, 8192  # src/prune/weights.h, src/prune/trees.h
TREE_SHARE = .5  # the rest is the logistic model's
# Issues are few and hard; CI logs are what people paste, the other kinds only have to be known.
WORTH = { 'issue': 3, 'gen_ci': 2.5, 'gen_q': 1.5, 'gen_git': .6, 'gen_diff': .6, 'gen_list': .7 }
TOKEN = re.compile(r'[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d{1,3}|[^\w\s]|_+|[^\x00-\x7f]')
RATIOS = [.15, .3, .4, .5, .6, .7, .8, .9, .95, .975, .99]


def tokens(line):
    return 1 + len(TOKEN.findall(line))


def split(text):
    lines = text.split('\n')
    if lines and lines[-1] == '':
        lines.pop()
    return lines


def load(name):
    path = name if os.path.exists(name) else os.path.join(EVAL, name)
    with gzip.open(path, 'rt', encoding='utf-8') as f:
        return [json.loads(line) for line in f if line.strip()]


def generated(logs):
    """The logs of logs.py; made once, kept in the build folder."""
    path = os.path.join(ROOT, B, 'train-tools.jsonl.gz')
    if not os.path.exists(path):
        with gzip.open(path, 'wt', encoding='utf-8') as f:
            for item in logs.generate(EVAL):
                f.write(json.dumps(item) + '\n')
    return load(path)


def make():
    subprocess.run(['make', '-s', 'B=' + B, B + '/features'], cwd=ROOT, check=True)


def ask(mode, items, wanted=None):
    """Run the program over the items; gives one array of 32-bit words each."""
    tool = subprocess.Popen([os.path.join(ROOT, B, 'features'), mode], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)
    import threading

    def feed():
        for k, item in enumerate(items):
            goal, text = item['goal_hint'].encode(), item['text'].encode()
            want = wanted[k] if wanted else []
            gold = item['gold_lines']
            tool.stdin.write(struct.pack('<5I', PARTS.index(item['source_type']), len(goal), len(text),
                                         len(gold), len(want)) + goal + text +
                             np.asarray(gold, '<u4').tobytes() + np.asarray(want, '<u4').tobytes())
        tool.stdin.close()
    threading.Thread(target=feed, daemon=True).start()
    for _ in items:
        head = tool.stdout.read(4)
        yield struct.unpack('<I', head)[0], tool.stdout


def rows(mode, items, width, wanted=None, kind='<f4'):
    for count, out in ask(mode, items, wanted):
        data = out.read(4 * width * count)
        yield np.frombuffer(data, kind).reshape(count, width)


# ---- Background -------------------------------------------------------------

def background(items):
    text, goal = collections.Counter(), collections.Counter()
    for r in rows('stems', items, 2, kind='<u4'):
        text.update(r[r[:, 1] == 2, 0].tolist())
        goal.update(set(r[r[:, 1] == 1, 0].tolist()))

    def table(count, least):
        out, held = [0] * SLOTS, [0] * SLOTS
        for stem, df in count.items():
            k = stem & (SLOTS - 1)
            if df >= least and df > held[k]:
                held[k] = df
                out[k] = (stem >> 28) << 4 | min(15, max(1, round(math.log2(df))))
        return out

    def write(f, name, values):
        f.write('static const unsigned char %s[%d] = {\n' % (name, SLOTS))
        for i in range(0, SLOTS, 32):
            f.write(','.join(str(v) for v in values[i:i + 32]) + ',\n')
        f.write('};\n')

    with open(os.path.join(ROOT, 'data', 'prune_background.h'), 'w') as f:
        f.write('/* Made by `make train`; do not edit. How many of %d training texts and goals hold a stem\n'
                ' * (scan/stem.h): the logarithm in the lower four bits, four bits of the stem above. Counts\n'
                ' * only, no text: sources and their licences (MIT, BSD, Apache-2.0, ISC and the like) are\n'
                ' * listed in docs/PRUNING.md. */\n' % len(items))
        f.write('enum { BACKGROUND_SLOTS = %d };\n' % SLOTS)
        write(f, 'BACKGROUND_TEXT', table(text, 6))
        write(f, 'BACKGROUND_GOAL', table(goal, 3))


# ---- Weights ----------------------------------------------------------------

def write_weights(names, terms, lines, note):
    def numbers(a):
        return ','.join('%.6gf' % v if '.' in '%.6g' % v or 'e' in '%.6g' % v else '%.6g' % v for v in a)
    with open(os.path.join(ROOT, 'data', 'prune_weights.h'), 'w') as f:
        f.write('/* Made by `make train`; do not edit. %s */\n' % note)
        f.write('const float TERM_WEIGHTS[PART_COUNT][REACHES][T_COUNT_] = {\n')
        for part in range(3):
            f.write('{' + ',\n'.join('{' + numbers(terms[part][r]) + '}' for r in range(REACHES)) + '},\n')
        f.write('};\n_Static_assert(F_COUNT == %d && T_COUNT_ == %d, "make train");\n' % (
            len(names), len(terms[0][0])))
        f.write('const struct line_weights LINE_WEIGHTS[PART_COUNT] = {\n')
        for part in range(3):
            w = lines[part]
            f.write('{ %.6gf,\n{' % (w['bias'] + 1e-9))
            f.write('},\n{'.join(numbers(w[k]) for k in ('mean', 'scale', 'weight')) + '} },\n')
        f.write('};\nconst struct line_tree LINE_TREES[PART_COUNT][TREES] = {\n')
        for part in range(3):
            rows = ('{{%s},{%s},{%s}}' % tuple(','.join(map(str, v)) for v in tree) for tree in lines[part]['trees'])
            f.write('{' + ',\n'.join(rows) + '},\n')
        f.write('};\n')


def write_nothing():
    """Weights for a build that only has to tell features, whatever they are now."""
    with open(os.path.join(ROOT, 'data', 'prune_weights.h'), 'w') as f:
        f.write('const float TERM_WEIGHTS[PART_COUNT][REACHES][T_COUNT_] = { 0 };\n'
                'const struct line_weights LINE_WEIGHTS[PART_COUNT] = { 0 };\n'
                'const struct line_tree LINE_TREES[PART_COUNT][TREES] = { 0 };\n')


def logistic(x, y, w, c):
    m = LogisticRegression(C=c, max_iter=300, tol=1e-4)
    m.fit(x, y, sample_weight=w)
    return m.coef_[0], m.intercept_[0]


def fit_terms(items, inputs):
    out = []
    for part in PARTS:
        mine = [i for i in items if i['source_type'] == part]
        x = np.concatenate([r for r in rows('terms', mine, inputs + REACHES)])
        weights = []
        for r in range(REACHES):
            y = x[:, inputs + r]
            both = np.concatenate([x[:, 1:inputs]] * 2)
            mean, sd = both.mean(0), both.std(0) + 1e-6
            coef, bias = logistic((both - mean) / sd, np.r_[np.ones(len(x)), np.zeros(len(x))],
                                  np.r_[y, 1 - y] + 1e-9, 1.0)
            weights.append(np.r_[bias - (coef * mean / sd).sum(), coef / sd])
        out.append(weights)
    return out


def sample(item, rnd):
    n = len(split(item['text']))
    gold = sorted(set(g for g in item['gold_lines'] if 1 <= g <= n))
    others = [i for i in range(1, n + 1) if i not in set(gold)]
    if len(others) > NEGATIVES:
        others = sorted(rnd.sample(others, NEGATIVES))
    return gold, others


def line_data(items, width):
    """Features, labels and weights of the sampled lines."""
    picks = [sample(i, random.Random(zlib.crc32(i['id'].encode()))) for i in items]
    x, y, w = [], [], []
    for item, (gold, others), r in zip(items, picks,
                                       rows('lines', items, width + 1, [g + o for g, o in picks])):
        if not gold or not others:
            continue
        text = split(item['text'])
        cost = np.array([tokens(text[i - 1]) for i in others], float)
        worth = WORTH.get(item['kind'], 1)
        x.append(r[:, :width].copy())
        y.append(np.r_[np.ones(len(gold)), np.zeros(len(others))])
        w.append(worth * np.r_[np.ones(len(gold)) / len(gold), cost / cost.sum()])
    return np.concatenate(x), np.concatenate(y), np.concatenate(w)


def boost(z, y, w, rate=.08, damp=8., part=.5):
    """Trees that ask all lines the same questions, each fitted to what those before
    it leave; each sees half of the lines and half of the features."""
    rnd = np.random.default_rng(7)
    bins = np.ascontiguousarray(((np.clip(np.rint(z * STEPS), -128, 127) + 128).astype(np.uint8) >> 2).T)
    w, score, trees = w / w.mean(), np.zeros(len(y)), []

    def sums(leaf, values, leaves, width):
        return np.bincount(leaf, values, leaves * width).reshape(leaves, width)

    for _ in range(TREES):
        p = 1 / (1 + np.exp(-score))
        rows, features = np.flatnonzero(rnd.random(len(y)) < part), np.flatnonzero(rnd.random(len(bins)) < part)
        slope, bend = (w * (y - p))[rows], (w * p * (1 - p))[rows]
        seen = { f: bins[f][rows].astype(np.int64) for f in features }
        leaf, asks = np.zeros(len(rows), np.int64), []
        for depth in range(ASKS):
            best = (-1., 0, 0)
            for f in features:
                key = leaf * 64 + seen[f]
                g, h = sums(key, slope, 1 << depth, 64).cumsum(1), sums(key, bend, 1 << depth, 64).cumsum(1)
                left, right = (g[:, :-1], h[:, :-1]), (g[:, -1:] - g[:, :-1], h[:, -1:] - h[:, :-1])
                gain = sum((a * a / (b + damp)).sum(0) for a, b in (left, right))
                if gain.max() > best[0]:
                    best = (gain.max(), f, gain.argmax())
            asks.append(best[1:])
            leaf |= (seen[best[1]] > best[2]).astype(np.int64) << depth
        g, h = sums(leaf, slope, 1, 1 << ASKS)[0], sums(leaf, bend, 1, 1 << ASKS)[0]
        value = np.rint(rate * g / (h + damp) * TREE_SHARE * ONE)
        score += value[sum((bins[f] > j).astype(np.int64) << k for k, (f, j) in enumerate(asks))] / (TREE_SHARE * ONE)
        trees.append(([int(f) for f, _ in asks], [int(j) * 4 + 3 - 128 for _, j in asks], value.astype(int).tolist()))
    return trees


def fit_lines(items, names, c):
    x, y, w = line_data(items, len(names))
    mean, sd = np.average(x, 0, w), x.std(0)
    scale = np.where(sd > 1e-6, 1 / np.maximum(sd, 1e-6), 0)
    # As the program will have them: cut, and rounded as they are written.
    z = np.clip((x - mean.astype(np.float32)) * scale.astype(np.float32), -4, 4).astype(np.float32)
    coef, bias = logistic(z, y, w * len(items) / w.sum() * 100, c)
    coef = np.where(scale > 0, coef, 0)
    return dict(mean=mean, scale=scale, weight=coef * (1 - TREE_SHARE), bias=bias * (1 - TREE_SHARE),
                trees=boost(z, y, w))


def fit_part(job):
    return fit_lines(*job)


# ---- Measure ----------------------------------------------------------------

def area(points):
    env, most = [(0., 0.)], 0.
    for x, y in sorted(points):
        most = max(most, y)
        env.append((x, most))
    env.append((1., 1.))
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(env, env[1:]))


def at(curve, x):
    pts = [(0., 0.)] + sorted(curve) + [(1., 1.)]
    for a, b in zip(pts, pts[1:]):
        if a[0] <= x <= b[0]:
            return b[1] if b[0] == a[0] else a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])
    return 1.


def curve(score, item, cost):
    n = len(cost)
    order = np.lexsort((np.arange(n), -score))
    gold = np.zeros(n)
    gold[[g - 1 for g in item['gold_lines']]] = 1
    share, got = np.cumsum(cost[order]) / cost.sum(), np.cumsum(gold[order]) / gold.sum()
    keep = [min(n, max(1, math.ceil(n * (1 - r) - 1e-9))) - 1 for r in RATIOS]
    return [(share[k], got[k]) for k in keep]


COSTS = {}


def measure(items, what, column, by_kind=False):
    done = collections.defaultdict(list)
    for item, r in zip(items, rows('scores', items, 2)):
        if item['id'] not in COSTS:
            COSTS[item['id']] = np.array([tokens(l) for l in split(item['text'])], float)
        pts = curve(r[:, column], item, COSTS[item['id']])
        done[item['source_type']].append(pts)
        if by_kind:
            done[item['source_type'] + ':' + item['kind']].append(pts)
    table = {}
    for part, all_pts in sorted(done.items()):
        mean = np.mean(all_pts, axis=0)
        table[part] = [np.mean([area(p) for p in all_pts])] + [at(map(tuple, mean), s) for s in (.1, .2)]
        print('  %-24s %-28s AUC %.3f R@10 %.3f R@20 %.3f (%d)' % (what, part, *table[part], len(all_pts)))
    parts = [table[p] for p in PARTS if p in table]
    print('  %-24s %-28s AUC %.3f R@10 %.3f R@20 %.3f' % (what, 'overall', *np.mean(parts, axis=0)), flush=True)


def measure_sent(items, what, ratio=.9, marker=3):
    """What a reader gets, as multiple of the kept lines' tokens."""
    sums = collections.defaultdict(lambda: np.zeros(2))
    for item, r in zip(items, rows('sent', items, 2, [[int(ratio * 1e6), 0, marker]] * len(items), '<u4')):
        sums[item['source_type']] += r[0]
    print('  %-24s %s' % (what + ' sent/kept', '  '.join('%s %.3f' % (p, s[1] / s[0]) for p, s in sorted(sums.items()))))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--dev', action='store_true', help='measure on dev too')
    ap.add_argument('--only', choices=['measure', 'lines', 'terms', 'all'], default='all')
    ap.add_argument('--c', type=float, default=.02)
    ap.add_argument('--by-kind', action='store_true')
    a = ap.parse_args()
    if a.only == 'all':
        write_nothing()
    make()
    names = subprocess.run([os.path.join(ROOT, B, 'features'), 'names'], stdout=subprocess.PIPE,
                           text=True, check=True).stdout.split()
    valid = load('valid.jsonl.gz')
    zero = dict(mean=[0.] * len(names), scale=[0.] * len(names), weight=[0.] * len(names), bias=0.,
                trees=[([0] * ASKS, [0] * ASKS, [0] * (1 << ASKS))] * TREES)
    state = os.path.join(ROOT, B, 'terms.json')
    if a.only != 'measure':
        items = load('train.jsonl.gz')
        sys.path.insert(0, HERE)
        import logs
        tools, held = logs.split_off(load('train-logs.jsonl.gz') + generated(logs))
        items += tools
        note = ('From train.jsonl.gz and train-logs.jsonl.gz of the evaluation set and logs by\n'
                ' * data/train/logs.py: %d items; texts are not in here, their licences are listed in\n'
                ' * docs/PRUNING.md.' % len(items))
        inputs = 24  # TERM_INPUTS of src/prune/match.h; the compiler checks it
        if a.only == 'all':
            background(items)
            make()
        if a.only in ('all', 'terms'):
            terms = fit_terms(items, inputs)
            json.dump([[list(r) for r in p] for p in terms], open(state, 'w'))
            write_weights(names, terms, [zero] * 3, note)
            make()
        terms = json.load(open(state))
        with multiprocessing.Pool(2) as pool:  # sklearn and numpy take one core each here
            fitted = pool.map(fit_part, [([i for i in items if i['source_type'] == part], names, a.c)
                                         for part in PARTS], chunksize=1)
        write_weights(names, terms, fitted, note)
        make()
        measure(held, 'held-out logs', 0, True)
    measure(valid, 'valid learned', 0)
    measure(valid, 'valid heuristic', 1)
    if a.dev:
        dev = load('dev.jsonl.gz')
        measure(dev, 'dev learned', 0, a.by_kind)
        measure(dev, 'dev heuristic', 1)
        measure_sent(dev, 'dev')


if __name__ == '__main__':
    main()
