"""logs.py: tool output with questions, for training, made by running the tools.

Files and commit messages come from train.jsonl.gz: a small repository is made
of each project there, and grep, git log, git log --stat, git log --oneline and
git diff are run on it. Python's unittest runs small broken test files. Listings
of this machine (packages, libraries, services) and daemons' logs of our own
making complete it. Nothing is kept: the output lives in a temporary folder.
"""
import collections, glob, gzip, json, os, random, re, subprocess, tempfile

NAMES = ['Ada Field', 'Jun Mori', 'Lea Brandt', 'Omar Diaz', 'Pia Holm', 'Tom Reyes', 'Uma Nair']
DEFINES = re.compile(r'^\s*(?:export |pub |public |private |protected |static |async |default |abstract |final '
                     r'|override |open |internal )*(?:def|func|fn|fun|function|class|struct|interface|trait|enum|'
                     r'module|type)\s+(?:self\.|\([^)]*\)\s*)?([A-Za-z_]\w{4,})')
METHOD = re.compile(r'^\s+(?:public|private|protected|static|final|override|async|virtual|internal)\s[\w\s<>\[\],?.]*?'
                    r'\b([A-Za-z_]\w{4,})\([^;]*[{)]\s*$')
MACRO = re.compile(r'^\s*#\s*define\s+([A-Za-z_]\w{4,})')
C_DEFINES = re.compile(r'^[A-Za-z_][\w\s\*:<>,&]*?\b([A-Za-z_]\w{4,})\([^;]*$')


def run(args, cwd, env=None):
    r = subprocess.run(args, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       env=dict(os.environ, LC_ALL='C.UTF-8', GIT_PAGER='cat', **(env or {})))
    return r.stdout.decode('utf-8', 'replace')


def item(kind, goal, text, gold, worth=1):
    text = text.replace('\0', '')
    return dict(id='%s-%d' % (kind, abs(hash_of(goal + text[:500]))), source_type='logs', kind=kind,
                goal_hint=goal, text=text, gold_lines=sorted(set(gold)), worth=worth)


def hash_of(s):
    import zlib
    return zlib.crc32(s.encode())


def words_of(s, rnd, least=2, most=5):
    """Some of the words of a sentence, in order, as a person remembers it."""
    w = [x for x in re.findall(r'[A-Za-z_][\w.-]{2,}', s) if x.lower() not in
         ('the', 'and', 'for', 'with', 'from', 'that', 'this', 'into', 'when')]
    if len(w) > most:
        keep = sorted(rnd.sample(range(len(w)), rnd.randint(least, most)))
        w = [w[i] for i in keep]
    return ' '.join(w)


# ---- Version control ---------------------------------------------------------

def repository(folder, items, rnd):
    """Commit the items one after the other, each with its own message."""
    os.makedirs(folder)
    run(['git', 'init', '-q', '.'], folder)
    clock = 1600000000 + rnd.randrange(10 ** 8)
    subjects = []
    for it in items:
        path = os.path.join(folder, it['provenance']['path'])
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as f:
                f.write(it['text'])
        except OSError:
            continue
        who = rnd.choice(NAMES)
        clock += rnd.randrange(600, 400000)
        message = it['goal_hint'] if it['kind'] != 'issue' else it['goal_hint'].split('\n')[0]
        mail = who.split()[0].lower() + '@example.org'
        env = dict(GIT_AUTHOR_NAME=who, GIT_AUTHOR_EMAIL=mail, GIT_COMMITTER_NAME=who,
                   GIT_COMMITTER_EMAIL=mail, GIT_AUTHOR_DATE='%d +0200' % clock,
                   GIT_COMMITTER_DATE='%d +0200' % clock)
        run(['git', 'add', '-A'], folder)
        out = run(['git', 'commit', '-q', '-m', message[:2000]], folder, env)
        if 'nothing to commit' not in out:
            subjects.append((message.split('\n')[0], it['provenance']['path']))
    return subjects


def entry_gold(lines, start, subject):
    """The head of an entry and its title."""
    gold = [start + 1]
    for i in range(start + 1, min(len(lines), start + 12)):
        if lines[i].strip() == subject.strip():
            return gold + [i + 1]
    return None


BY_HASH = ['what is commit %s about?', 'what did %s change', 'subject of %s', 'show commit %s']


def git_logs(folder, subjects, rnd):
    out = []
    if len(subjects) < 8:
        return out
    for form in (['git', 'log', '--stat'], ['git', 'log'], ['git', 'log', '--oneline'],
                 ['git', 'log', '--stat'], ['git', 'log', '-p', '-U1', '-n', '6'],
                 ['git', 'log', '--date=short', '--format=%h %ad %an %s']):
        text = run(form, folder)
        lines = text.split('\n')
        subject, path = rnd.choice(subjects)
        say = words_of(subject, rnd)
        if not say:
            continue
        starts = [i for i, l in enumerate(lines) if re.match(r'commit [0-9a-f]{40}', l)]
        where = [i for i, l in enumerate(lines) if l.strip() == subject.strip() or
                 l.endswith(' ' + subject.strip())]
        if len(where) != 1:
            continue
        where = where[0]
        base = os.path.basename(path)
        if starts:
            head = max([s for s in starts if s < where], default=None)
            if head is None:
                continue
            gold = [head + 1, where + 1]
            stat = [i for i in range(where, min(len(lines), where + 80))
                    if '|' in lines[i] and base in lines[i] and not any(where < s <= i for s in starts)]
            if form[-1] == '--stat' and stat and rnd.random() < .5:
                touched = [s for s in subjects if os.path.basename(s[1]) == base]
                if len(touched) > 1:
                    continue
                goal = rnd.choice(['which commit changed %s?', 'who touched %s', 'find the commit that modified %s',
                                   'when was %s last changed', 'what was done to %s']) % base
                gold.append(stat[0] + 1)
            elif rnd.random() < .2:
                goal = rnd.choice(BY_HASH) % lines[head].split()[1][:rnd.randint(7, 12)]
            else:
                goal = rnd.choice(['which commit did: %s', 'find the commit about %s', 'when did we %s',
                                   'who did the change "%s"', '%s']) % say
                if form[-1] == '--stat':
                    goal += rnd.choice(['', ', and which files did it touch'])
                    if 'files' in goal:
                        gold += [s + 1 for s in stat]
        else:
            goal = rnd.choice(['which commit did: %s', 'find the commit about %s', '%s', 'hash of the commit %s']) % say
            if rnd.random() < .2:
                goal = rnd.choice(BY_HASH) % lines[where].split()[0][:7]
            gold = [where + 1]
        out.append(item('gen_git', goal, text, gold))
    return out


def edited(text, gold, rnd):
    lines = text.split('\n')
    for g in sorted(gold, reverse=True)[:6]:
        if g - 1 >= len(lines):
            continue
        how = rnd.random()
        if how < .3:
            del lines[g - 1]
        elif how < .6:
            lines.insert(g - 1, lines[g - 1].replace('a', 'e', 2) + ' ')
        else:
            lines[g - 1] = re.sub(r'([A-Za-z]{4,})', lambda m: m.group(1) + 's', lines[g - 1], count=2) or '#'
    return '\n'.join(lines)


def git_diffs(folder, items, rnd):
    """Edit several files where their commits did, and ask about one of them."""
    mine = {it['provenance']['path']: it for it in items}
    mine = list(mine.values())
    if len(mine) < 4:
        return []
    pick = rnd.sample(mine, min(len(mine), rnd.randint(4, 14)))
    for it in pick:
        with open(os.path.join(folder, it['provenance']['path']), 'w', encoding='utf-8') as f:
            f.write(edited(it['text'], it['gold_lines'], rnd))
    text = run(['git', 'diff'], folder)
    run(['git', 'checkout', '-q', '.'], folder)
    lines = text.split('\n')
    out = []
    for it in rnd.sample(pick, 2):
        path = it['provenance']['path']
        start = next((i for i, l in enumerate(lines) if l.startswith('diff --git') and l.endswith('b/' + path)), None)
        if start is None:
            continue
        end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith('diff --git')), len(lines))
        changed = [i + 1 for i in range(start + 1, end) if re.match(r'[+-](?![+-]{2})', lines[i])]
        hunks = [i + 1 for i in range(start, end) if lines[i].startswith('@@')]
        if not changed or len(changed) > 40:
            continue
        subject = it['goal_hint'].split('\n')[0]
        goal = rnd.choice([subject, 'what changed in %s' % path, 'what changed in %s' % os.path.basename(path),
                           'show the change: ' + words_of(subject, rnd),
                           'how was %s modified' % os.path.splitext(os.path.basename(path))[0]])
        out.append(item('gen_diff', goal, text, [start + 1] + (hunks[:1] if rnd.random() < .3 else []) + changed))
    return out


# ---- Search ------------------------------------------------------------------

def definitions(items):
    found = collections.defaultdict(set)
    for it in items:
        code = it['source_type'] == 'code'
        for line in it['text'].split('\n') if code else []:
            m = DEFINES.match(line) or C_DEFINES.match(line) or METHOD.match(line) or MACRO.match(line)
            if m and not re.match(r'(if|for|while|switch|return|else)$', m.group(1)):
                found[m.group(1)].add(line.strip())
    return found


def greps(folder, items, rnd):
    out, found = [], definitions(items)
    names = sorted(found)
    rnd.shuffle(names)
    for name in names[:60]:
        if len(out) >= 5:
            break
        text = run(['grep', '-rn', '--include=*.*', name, '.'], folder)
        lines = text.split('\n')[:-1]
        if not 12 <= len(lines) <= 1500:
            continue
        if rnd.random() < .5:
            lines = [l[2:] if l.startswith('./') else l for l in lines]
        gold = [i + 1 for i, l in enumerate(lines) if l.split(':', 2)[-1].strip() in found[name] and
                re.search(r'\b%s\b' % re.escape(name), l.split(':', 2)[-1])]
        if not 1 <= len(gold) <= 6:
            continue
        goal = rnd.choice(['where is %s defined', 'where is `%s` defined?', 'find the definition of %s',
                           'which file defines %s', 'definition of %s', 'where is %s declared',
                           'show where %s is implemented']) % name
        out.append(item('gen_grep', goal, '\n'.join(lines) + '\n', gold))
        i = rnd.randrange(len(lines))
        rest = lines[i].split(':', 2)[-1]
        say = words_of(rest.replace(name, ' '), rnd, 2, 3)
        if len(say.split()) >= 2 and rnd.random() < .5:
            every = [k + 1 for k, l in enumerate(lines) if all(w in l for w in say.split())]
            if len(every) <= 3:
                out.append(item('gen_grep', rnd.choice(['where is %s used with %s', 'the use of %s with %s']) %
                                (name, say), '\n'.join(lines) + '\n', every))
    return out


# ---- Test runs ---------------------------------------------------------------

TEST = '''import unittest, json, os


def helper(value):
    return transform(value)


def transform(value):
    if value == 'bad':
        raise %(exc)s('%(message)s')
    return value


class %(cls)s(unittest.TestCase):
%(tests)s

if __name__ == '__main__':
    unittest.main()
'''
EXCEPTIONS = ['ValueError', 'KeyError', 'RuntimeError', 'TypeError', 'OSError', 'TimeoutError']
NOUNS = ('parser header session cache token route queue buffer index socket config template record schema worker '
         'signal filter ledger mirror bundle cursor planner lexer packet vector thread').split()
VERBS = 'parse load close open retry merge split encode flush resolve expire rotate reject accept sort'.split()


def unittests(folder, rnd, count):
    out = []
    for k in range(count):
        os.makedirs(folder, exist_ok=True)
        for old in glob.glob(os.path.join(folder, '*.py')):
            os.unlink(old)
        bad, cases = [], 0
        for m in range(rnd.randint(2, 9)):
            tests = []
            noun = rnd.choice(NOUNS)
            for j in range(rnd.randint(5, 40)):
                name = 'test_%s_%s_%d' % (rnd.choice(VERBS), rnd.choice(NOUNS), j)
                body = rnd.choice(['self.assertEqual(1, 1)', 'self.assertTrue(helper("x"))', 'self.assertIn(1, [1])'])
                if rnd.random() < .03 or (m == 0 and j == 2):
                    a, b = rnd.choice(NOUNS), rnd.choice(NOUNS)
                    body = rnd.choice(['self.assertEqual("%s", "%s-x")' % (a, b), 'helper("bad")',
                                       'self.assertTrue(%d > %d)' % (j, j + 5), 'json.loads("{%s")' % a,
                                       'os.stat("/nowhere/%s")' % b, '{}["%s"]' % a,
                                       'self.assertIn("%s", ["%s_", 2])' % (a, b)])
                    bad.append(name)
                if rnd.random() < .05:
                    body += '\n        print("error: ignored, only a message of the %s")' % noun
                tests.append('    def %s(self):\n%s        %s\n' % (
                    name, '        """%s the %s."""\n' % (rnd.choice(VERBS).title(), noun) if rnd.random() < .2 else '',
                    body))
                cases += 1
            with open(os.path.join(folder, 'test_%s%d.py' % (noun, m)), 'w') as f:
                f.write(TEST % dict(exc=rnd.choice(EXCEPTIONS), cls=noun.title() + 'Test',
                                    message='the %s cannot %s' % (noun, rnd.choice(VERBS)), tests='\n'.join(tests)))
        text = run(['python3', '-m', 'unittest'] + (['-v'] if rnd.random() < .75 else []), folder)
        text = text.replace(folder, rnd.choice(['/home/dev/app/tests', '/src/project', '/builds/team/app']))
        out += about_tests(text, bad, rnd)
    return out


def about_tests(text, bad, rnd):
    lines = text.split('\n')
    heads = {}
    for i, l in enumerate(lines):
        m = re.match(r'(FAIL|ERROR): (\w+)', l)
        if m and i and set(lines[i - 1]) == {'='}:
            heads[m.group(2)] = i
    golds = {}
    for name, i in heads.items():
        end = next((j for j in range(i + 2, len(lines)) if re.match(r'={20}|-{20}', lines[j])), len(lines))
        body = [j for j in range(i + 2, end) if lines[j].strip()]
        raised = [j for j in body if re.match(r'\w+(Error|Exception)\b', lines[j])]
        frames = [j for j in body if lines[j].startswith('  File "')]
        if raised:
            golds[name] = [i + 1, raised[0] + 1] + ([frames[-1] + 1, frames[-1] + 2] if frames else [])
    if not golds:
        return []
    gold = sorted(g for v in golds.values() for g in v)
    out = [item('gen_unittest', rnd.choice(['which tests failed and why', 'why did the test run fail?',
                                            'show the failing tests', 'what failed', 'find the failures']), text, gold)]
    for name in rnd.sample(sorted(golds), min(2, len(golds))):
        out.append(item('gen_unittest', rnd.choice(['why did %s fail', 'what is wrong with %s?', 'traceback of %s',
                                                    'the error in %s']) % name, text, golds[name]))
    return out


# ---- This machine --------------------------------------------------------------

LISTINGS = [
    (['dpkg', '-l'], r'^ii\s+([\w.+-]+)', ['which version of %s is installed', 'is %s installed', 'version of %s']),
    (['dpkg', '-l'], r'^ii\s+\S+\s+(\S*\d\.\S+)', ['which package has version %s', 'what is at %s?', 'who is at version %s']),
    (['ls', '-l', '/usr/bin'], r' ([\w.+-]+)(?: -> .*)?$', ['how large is %s', 'permissions of %s', 'where does %s point to']),
    (['ldconfig', '-p'], r'^\s+(lib[\w.+-]+)', ['where is %s', 'path of %s']),
    (['cat', '/etc/services'], r'^([\w-]+)\s', ['which port does %s use', 'port of %s']),
    (['cat', '/etc/passwd'], r'^([\w-]+):', ['shell of user %s', 'home directory of %s']),
    (['ls', '-lR', '/usr/lib/python3'], r' ([\w.-]+)$', ['size of %s', 'when was %s modified']),
    (['cat', '/var/log/dpkg.log'], r' (?:install|configure) ([\w.+-]+):', ['when was %s installed', 'was %s configured']),
    (['ps', 'aux'], r' ([\w./-]+)(?: [^ ]*)?$', ['which process runs %s', 'memory of %s']),
    (['mount'], r' on (\S+) ', ['what is mounted on %s', 'file system of %s']),
    (['env'], r'^(\w+)=', ['value of %s']),
    (['apt-cache', 'policy'], r'(\S+) Packages', ['priority of %s']),
    (['python3', '-m', 'pip', 'list'], r'^([\w.-]+) ', ['version of %s']),
    (['sysctl', '-a'], r'^([\w.]+) ', ['value of %s']),
    (['locale', '-a'], r'^(\S+)$', ['is %s there']),
]


def listings(rnd, each):
    out = []
    for args, name, goals in LISTINGS:
        try:
            lines = [l[:400] for l in run(args, '/').split('\n')][:3000]
        except OSError:
            continue
        if len(lines) < 15:
            continue
        for _ in range(each):
            part = lines
            if len(lines) > 120 and rnd.random() < .7:
                at = rnd.randrange(len(lines) - 100)
                part = lines[at:at + rnd.randrange(60, 900)]
            i = rnd.randrange(len(part))
            m = re.search(name, part[i])
            if not m:
                continue
            gold = [k + 1 for k, l in enumerate(part) if re.search(r'(?<![\w-])%s(?![\w-])' % re.escape(m.group(1)), l)]
            if len(gold) <= 4:
                out.append(item('gen_list', rnd.choice(goals) % m.group(1), '\n'.join(part) + '\n', gold))
    return out


# ---- Daemons -------------------------------------------------------------------

# (what happens often), (what happens now and then: line, question)
DAEMONS = [
    ('sshd[%d]:', ['Connection from 10.%d.%d.%d port %d', 'Received disconnect from 10.%d.%d.%d: 11: Bye Bye [preauth]',
                   'pam_unix(sshd:session): session opened for user dev%d by (uid=0)', 'Connection closed by 10.%d.%d.%d'],
     [('Accepted publickey for root from 10.%d.%d.%d port %d ssh2', 'which login as root was accepted'),
      ('error: maximum authentication attempts exceeded for admin from 10.%d.%d.%d', 'who ran out of authentication attempts'),
      ('reverse mapping checking getaddrinfo for host-%d failed - POSSIBLE BREAK-IN ATTEMPT!', 'possible break-in attempts')]),
    ('kernel: [%d.%d]', ['usb 1-%d: new high-speed USB device number %d', 'eth%d: link becomes ready', 'audit: type=%d res=1',
                         'IPv6: ADDRCONF(NETDEV_UP): eth%d: link is not ready'],
     [('Out of memory: Kill process %d (java) score %d or sacrifice child', 'what did the kernel kill for memory'),
      ('EXT4-fs error (device sda%d): ext4_find_entry: reading directory lblock %d', 'file system errors on the disk'),
      ('CPU%d: Core temperature above threshold, cpu clock throttled', 'was the cpu throttled for temperature')]),
    ('systemd[1]:', ['Started Session %d of user dev.', 'Starting Daily apt activities %d...', 'Created slice User Slice of %d.',
                     'Reached target Timers %d.'],
     [('backup.service: Main process exited, code=exited, status=%d/n/a', 'why did the backup service stop'),
      ('nginx.service: Failed with result "timeout" after %d s', 'which unit ran into a timeout'),
      ('Condition check resulted in Lock Directory %d being skipped.', 'which condition was skipped')]),
    ('storage.Worker:', ['Receiving block blk_%d src: /10.%d.%d.%d dest: /10.%d.%d.%d', 'PacketResponder %d for block blk_%d terminating',
                         'Verification succeeded for blk_%d', 'Deleting block blk_%d file /data/current/blk_%d'],
     [('writeBlock blk_%d received exception java.io.IOException: Connection reset by peer', 'connection reset while writing a block'),
      ('Got exception while serving blk_%d to /10.%d.%d.%d', 'exceptions while serving blocks'),
      ('Slow flush took %d ms, threshold 300 ms', 'which flush was slow')]),
    ('executor.Executor:', ['Finished task %d.0 in stage %d.0 (TID %d). %d bytes result sent to driver',
                            'Running task %d.0 in stage %d.0 (TID %d)', 'Block broadcast_%d stored as values in memory',
                            'Getting %d non-empty blocks out of %d blocks'],
     [('Lost task %d.0 in stage %d.0 (TID %d): fetch failure from shuffle %d', 'which task was lost and why'),
      ('Removing executor %d because it has been idle for %d seconds', 'which executor was removed for being idle'),
      ('Putting block rdd_%d failed due to insufficient memory', 'block that did not fit in memory')]),
    ('nginx:', ['10.%d.%d.%d "GET /api/v1/items/%d HTTP/1.1" 200 %d', '10.%d.%d.%d "GET /static/app.%d.js HTTP/1.1" 304 0',
                '10.%d.%d.%d "POST /api/v1/login HTTP/1.1" 200 %d'],
     [('10.%d.%d.%d "GET /api/v1/orders/%d HTTP/1.1" 502 %d', 'bad gateway responses for orders'),
      ('upstream prematurely closed connection while reading response header, client: 10.%d.%d.%d', 'upstream closed the connection early'),
      ('10.%d.%d.%d "DELETE /api/v1/users/%d HTTP/1.1" 403 %d', 'who tried to delete a user')]),
    ('scheduler:', ['job %d queued', 'job %d started on node-%d', 'job %d finished in %d ms', 'heartbeat from node-%d ok'],
     [('node-%d is draining: disk pressure above %d percent', 'which node drains because of disk pressure'),
      ('job %d was preempted by priority %d', 'which job was preempted'),
      ('lease of node-%d lost, electing a new leader', 'when was a new leader elected')]),
    ('postgres[%d]:', ['LOG:  checkpoint complete: wrote %d buffers', 'LOG:  connection authorized: user=app database=app%d',
                       'LOG:  duration: %d.%d ms  statement: SELECT * FROM items WHERE id = %d'],
     [('ERROR:  deadlock detected, process %d waits for ShareLock on transaction %d', 'deadlocks in the database'),
      ('FATAL:  remaining connection slots are reserved, %d in use', 'did we run out of connections'),
      ('LOG:  automatic vacuum of table "app.public.orders": removed %d pages', 'vacuum of the orders table')]),
]
STAMPS = ['%b %d %H:%M:%S host', '%Y-%m-%d %H:%M:%S,123 INFO', '%Y-%m-%dT%H:%M:%S.000Z', '%y%m%d %H%M%S 143 INFO',
          '[%a %b %d %H:%M:%S %Y]', '%m-%d %H:%M:%S.456  1702  2395 I', '%Y/%m/%d %H:%M:%S']


def fill(form, rnd):
    return re.sub('%d', lambda m: str(rnd.choice([rnd.randrange(10), rnd.randrange(255), rnd.randrange(70000),
                                                  rnd.randrange(255)])), form)


def daemons(rnd, count):
    import time
    out = []
    for _ in range(count):
        chosen = rnd.sample(DAEMONS, rnd.randint(1, 4))
        clock, stamp = 1.5e9 + rnd.randrange(10 ** 8), rnd.choice(STAMPS)
        lines, rare = [], collections.defaultdict(list)
        chance = rnd.choice([.003, .01, .03])
        for i in range(rnd.randrange(120, 2200)):
            clock += rnd.choice([0, 0, 1, 1, 3, 20])
            who, often, seldom = rnd.choice(chosen)
            if rnd.random() < chance or i == 60:
                form, goal = rnd.choice(seldom)
                rare[goal].append(len(lines) + 1)
            else:
                form = rnd.choice(often)
            lines.append('%s %s %s' % (time.strftime(stamp, time.gmtime(clock)), fill(who, rnd), fill(form, rnd)))
        goal = rnd.choice(sorted(rare))
        if rnd.random() < .25:  # what was named to the letter
            name = rnd.choice(re.findall(r'\bblk_\d+|\d+\.\d+\.\d+\.\d+|node-\d+', '\n'.join(lines)) or ['no'])
            said = [k + 1 for k, l in enumerate(lines) if re.search(r'(?<![\w.-])%s(?![\w.-])' % re.escape(name), l)]
            goal = rnd.choice(['what happened to %s?', 'what did %s do', 'lines about %s', 'why %s?']) % name
            rare = {goal: said or [0] * 26}
        if len(rare[goal]) <= 25:
            out.append(item('gen_daemon', goal, '\n'.join(lines) + '\n', rare[goal]))
    return out


# ---- All -----------------------------------------------------------------------

def generate(folder):
    rnd = random.Random(7)
    repos = collections.defaultdict(list)
    with gzip.open(os.path.join(folder, 'train.jsonl.gz'), 'rt', encoding='utf-8') as f:
        for line in f:
            it = json.loads(line)
            repos[it['provenance']['repo']].append(it)
    out = []
    with tempfile.TemporaryDirectory() as tmp:
        for k, (repo, items) in enumerate(sorted(repos.items())):
            if len(items) < 8:
                continue
            where = os.path.join(tmp, 'repo%d' % k)
            subjects = repository(where, items, rnd)
            out += git_logs(where, subjects, rnd) + git_diffs(where, items, rnd) + greps(where, items, rnd)
        out += unittests(os.path.join(tmp, 'tests'), rnd, 60)
    out += listings(rnd, 12) + daemons(rnd, 120)
    return out


def split_off(items):
    """Every sixth is held back to measure on."""
    return [i for k, i in enumerate(items) if k % 6 != 5], [i for k, i in enumerate(items) if k % 6 == 5]


if __name__ == '__main__':
    import sys
    made = generate(sys.argv[1])
    print(collections.Counter(i['kind'] for i in made))
    for i in random.Random(1).sample(made, 25):
        lines = i['text'].split('\n')
        print('==', i['kind'], len(lines), i['goal_hint'][:150])
        for g in i['gold_lines'][:6]:
            print('    ', g, lines[g - 1][:140])
