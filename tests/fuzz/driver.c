/* driver.c: runs a fuzz target without clang.
 *
 *     driver [-seconds=N] [-runs=N] [-seed=N] [-keep=FILE] CORPUS…
 *
 * Linked to one LLVMFuzzerTestOneInput. Runs every file of the corpus (files,
 * or folders of files), then mutations of them until the time or the number of
 * runs is over. The mutations come from the seed alone, so a failure comes
 * again. An input that crashes, hangs or makes a sanitizer speak is kept in
 * FILE; `driver -runs=0 FILE` runs it alone.
 * It is blind: it does not see which branches an input reached. `make fuzz`
 * does, with clang; this one is for every `make test`. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 64 << 10, MAX_SEEDS = 1024, INPUT_SECONDS = 10 };

struct seed {
    uint8_t *data;
    size_t size;
};

static struct seed seeds[MAX_SEEDS];
static size_t seed_count;
static uint64_t state;

/* The input under way; shared, so that it outlives who runs it. */
static struct {
    unsigned long runs;
    size_t size;
    uint8_t data[MOST_BYTES];
} * now;

static _Noreturn void die(const char *what, const char *name)
{
    perror(name);
    fprintf(stderr, "driver: %s %s\n", what, name);
    exit(2);
}

/* xorshift64*: small, and the same everywhere. */
static uint32_t draw(uint32_t below)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 0x2545F4914F6CDD1Du) >> 32) % below;
}

static void load_file(const char *name)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    struct seed *s = &seeds[seed_count];
    ssize_t n;

    if (fd < 0)
        die("cannot open", name);
    if (seed_count == MAX_SEEDS)
        die("too many files before", name);
    s->data = malloc(MOST_BYTES);
    if (!s->data)
        die("no memory for", name);
    while (s->size < MOST_BYTES && (n = read(fd, s->data + s->size, MOST_BYTES - s->size)) > 0)
        s->size += (size_t)n;
    close(fd);
    seed_count++;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* not the locale's order */
}

static void load(const char *name)
{
    struct dirent **entries;
    char path[PATH_MAX];
    struct stat st;
    int n;

    if (stat(name, &st) != 0)
        die("no such corpus:", name);
    if (!S_ISDIR(st.st_mode)) {
        load_file(name);
        return;
    }
    n = scandir(name, &entries, NULL, by_name);
    if (n < 0)
        die("cannot look into", name);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", name, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            load_file(path);
        free(entries[i]);
    }
    free(entries);
}

/* Bytes that parsers care about, more often than chance would bring them. */
static uint8_t telling_byte(void)
{
    static const char bytes[] = "{}[]\",:\\/\r\n \t0019-+.eE\0\x7f\x80\xbf\xc0\xe2\xf4\xff";

    return draw(2) ? (uint8_t)bytes[draw(sizeof bytes - 1)] : (uint8_t)draw(256);
}

static size_t insert(uint8_t *p, size_t n, size_t at, const uint8_t *what, size_t len)
{
    if (len > MOST_BYTES - n)
        len = MOST_BYTES - n;
    memmove(p + at + len, p + at, n - at);
    memcpy(p + at, what, len);
    return n + len;
}

static size_t erase(uint8_t *p, size_t n, size_t at, size_t len)
{
    if (len > n - at)
        len = n - at;
    memmove(p + at, p + at + len, n - at - len);
    return n - len;
}

static size_t mutate(uint8_t *p, size_t n)
{
    size_t at = draw((uint32_t)n + 1), len = 1 + draw(draw(8) ? 8 : 512);
    const struct seed *other = &seeds[draw((uint32_t)seed_count)];
    uint8_t piece[512], b = telling_byte();

    switch (draw(7)) {
    case 0: /* one bit */
        if (at < n)
            p[at] ^= (uint8_t)(1u << draw(8));
        return n;
    case 1: /* one byte */
        if (at < n)
            p[at] = b;
        return n;
    case 2: /* a few more */
        return insert(p, n, at, &b, 1);
    case 3: /* the same again and again: depth, length */
        memset(piece, b, len);
        return insert(p, n, at, piece, len);
    case 4:
        return erase(p, n, at, len);
    case 5: /* a piece of itself */
        if (len > n - at)
            len = n - at;
        memcpy(piece, p + at, len);
        return insert(p, n, draw((uint32_t)n + 1), piece, len);
    default: /* a piece of another one */
        if (other->size == 0)
            return n;
        at = draw((uint32_t)other->size);
        if (len > other->size - at)
            len = other->size - at;
        memcpy(piece, other->data + at, len);
        return insert(p, n, draw((uint32_t)n + 1), piece, len);
    }
}

/* From a heap block of exactly this size, so that AddressSanitizer sees a read
 * past its end. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);

    if (!exact)
        die("no memory for", "an input");
    memcpy(exact, data, size);
    memcpy(now->data, data, size);
    now->size = size;
    alarm(INPUT_SECONDS); /* unanswered: one that hangs is found like one that crashes */
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    now->runs++;
}

static void run_all(long runs, long seconds)
{
    static uint8_t input[MOST_BYTES];
    time_t end = time(NULL) + seconds;

    for (size_t i = 0; i < seed_count; i++)
        run(seeds[i].data, seeds[i].size);
    for (long i = 0; i < runs && time(NULL) < end; i++) {
        const struct seed *s = &seeds[draw((uint32_t)seed_count)];
        size_t n = s->size;

        memcpy(input, s->data, n);
        for (uint32_t k = 1 + draw(6); k > 0; k--)
            n = mutate(input, n);
        run(input, n);
    }
    alarm(0);
}

static void keep(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0 || write(fd, now->data, now->size) != (ssize_t)now->size)
        die("cannot write", name);
    close(fd);
}

static bool number(const char *arg, const char *flag, long *out)
{
    size_t n = strlen(flag);

    if (strncmp(arg, flag, n) != 0)
        return false;
    *out = strtol(arg + n, NULL, 10);
    return true;
}

/* A child runs the inputs; what it dies of, the parent lives to tell. */
int main(int argc, char **argv)
{
    long runs = LONG_MAX, seconds = 3, seed = 1;
    const char *failing = "failing-input", *name = strrchr(argv[0], '/');
    int status = 0;
    pid_t pid;

    name = name ? name + 1 : argv[0];
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-keep=", 6) == 0)
            failing = argv[i] + 6;
        else if (!number(argv[i], "-runs=", &runs) && !number(argv[i], "-seconds=", &seconds) &&
                 !number(argv[i], "-seed=", &seed))
            load(argv[i]);
    }
    if (seed_count == 0)
        die("no corpus:", "name files or folders");
    now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (now == MAP_FAILED)
        die("cannot map", "an input");
    state = (uint64_t)seed * 0x9E3779B97F4A7C15u | 1;
    pid = fork();
    if (pid == 0) {
        run_all(runs, seconds);
        exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        die("cannot run", name);
    if (status == 0) {
        printf("ok - fuzz %s: nothing breaks\n# %lu inputs\n", name, now->runs);
        return 0;
    }
    keep(failing);
    printf("not ok - fuzz %s: nothing breaks\n# %s after %lu inputs; the one it was is in %s\n",
           name, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "a sanitizer or exit spoke",
           now->runs, failing);
    return 1;
}
