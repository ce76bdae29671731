/* words.h: a text as lines of words.
 *
 * One pass over the bytes: where each line starts, what it looks like from
 * outside (indent, first and last character, a hash with the numbers masked),
 * and which words it holds. Every word is kept once however often it occurs,
 * with its parts as stems (scan/stem.h), so that whoever matches something
 * against the text does it once per word and not once per place.
 *
 * Words that are mostly digits (numbers of more than four, hashes, addresses)
 * are masked and not kept, except those whose stem_exact is among `keep`.
 * Does not know what a line means; scan/kinds.h and scan/log.h do. */
#pragma once
#include <stdint.h>
#include "base/arena.h"

/* What a word is in most languages; scan/keywords.c has the list. */
enum word_kw {
    KW_NONE,
    KW_DEF,    /* def fn func … */
    KW_TYPE,   /* class struct enum … */
    KW_MOD,    /* public static async … */
    KW_IMPORT, /* import include use … */
    KW_CTRL,   /* if for while … */
    KW_RETURN, /* return yield … */
    KW_THROW,  /* raise throw panic … */
    KW_VAR,    /* let var const … */
    KW_SQL,    /* create alter select … */
    KW_END,    /* end fi done … */
};

/* What a word says about how things went. */
enum word_sev {
    SEV_NONE,
    SEV_FAIL,   /* error failed fatal … */
    SEV_WARN,   /* warning deprecated … */
    SEV_OK,     /* ok passed success … */
    SEV_EXC,    /* SomethingError, SomethingException */
    SEV_TRACE,  /* traceback backtrace stack */
    SEV_WANT,   /* expected actual got want assert */
    SEV_DULL,   /* downloading compiling get … */
    SEV_TODO,   /* todo fixme deprecated … */
    SEV_RIGHTS, /* copyright licence warranty … */
    SEV_EXIT,   /* exit exited */
};

enum { WORD_PARTS = 8 };

struct word {
    uint32_t at;    /* first place in the text */
    uint32_t hash;  /* stem_exact of its letters in lower case, joined */
    uint32_t count; /* places */
    uint32_t lines; /* lines that hold it */
    uint32_t last;  /* the last such line, from 1; for counting */
    uint32_t stems; /* its parts, in words.stems */
    uint16_t len;   /* cut at 65,535 */
    uint8_t parts;
    uint8_t kw;  /* enum word_kw */
    uint8_t sev; /* enum word_sev */
    uint8_t tokens;
    bool upper; /* starts with a capital */
    bool exact; /* more than one part */
};

/* What the first pass saw of a line. */
enum {
    SAW_CALL = 1,       /* ( right behind a word */
    SAW_ASSIGN = 2,     /* = that is no comparison */
    SAW_OPEN = 4,       /* a block comment opens and does not close */
    SAW_CLOSE = 8,      /* one closes */
    SAW_TRIPLE = 16,    /* an odd number of triple quotes */
    SAW_PATH_LINE = 32, /* file.c:12 */
    SAW_ANSI = 64,
    SAW_SEV = 128,    /* a word with a sev */
    SAW_MARK = 256,   /* U+27E6, as directives open */
    SAW_COLON = 512,  /* a word and then ": " */
    SAW_ARROW = 1024, /* => or -> */
    SAW_BAR = 2048,   /* | */
    SAW_PAREN = 4096, /* any ( */
    SAW_QUOTE = 8192,
};

struct line {
    uint32_t at;    /* first byte */
    uint32_t words; /* its first word in text.places */
    uint32_t mask;  /* hash of the line with its numbers masked */
    uint32_t shape; /* hash of how it begins: indent and the first signs */
    uint32_t kind;  /* enum of scan/kinds.h */
    uint32_t log;   /* enum of scan/log.h */
    uint32_t head;  /* first byte that is no space; the end of a blank line */
    uint16_t saw;
    uint16_t indent;
    uint16_t tokens;
    uint16_t digits;
    uint8_t first, last; /* characters, the outer ones that are no space */
    uint8_t sevs;        /* how many words with SEV_FAIL or SEV_EXC */
    uint8_t depth;
};

struct text {
    struct str bytes;
    struct line *lines; /* count + 1: the last one only has at and words */
    size_t count;
    struct word *words; /* 0 stands for what is masked */
    size_t word_count;
    uint32_t *places; /* words in the order of the text */
    uint32_t *stems;
};

/* Asked now and then; true: give up. fn NULL: never. */
struct late {
    bool (*fn)(void *arg);
    void *arg;
};

static inline bool is_late(const struct late *l)
{
    return l->fn && l->fn(l->arg);
}

/* Read bytes (under 4 GB) into t; false: too late. keep has keep_count hashes. */
bool text_read(struct text *t, struct arena *a, struct str bytes, const uint32_t *keep,
               size_t keep_count, const struct late *late);

/* A line without its end ("\n", "\r\n"). */
static inline struct str line_str(const struct text *t, size_t i)
{
    const char *p = t->bytes.p + t->lines[i].at;
    size_t n = t->lines[i + 1].at - t->lines[i].at;

    if (n && p[n - 1] == '\n')
        n--;
    if (n && p[n - 1] == '\r')
        n--;
    return (struct str){ p, n };
}

/* The same without its indent. */
static inline struct str line_head(const struct text *t, size_t i)
{
    struct str s = line_str(t, i);
    size_t skip = t->lines[i].head - t->lines[i].at;

    return skip < s.n ? (struct str){ s.p + skip, s.n - skip } : (struct str){ s.p, 0 };
}

/* Its word k, or NULL. */
static inline const struct word *line_word(const struct text *t, size_t i, size_t k)
{
    size_t at = t->lines[i].words + k;

    return at < t->lines[i + 1].words ? &t->words[t->places[at]] : NULL;
}

/* The parts of a word as stems, at most WORD_PARTS; joined gets the hash of
 * its letters in lower case. Gives how many. */
size_t word_split(struct str w, uint32_t stems[WORD_PARTS], uint32_t *joined);

/* Kinds of byte; from BYTE_LOWER on they make words. */
enum {
    BYTE_SIGN,
    BYTE_SPACE,
    BYTE_LOWER,
    BYTE_UPPER,
    BYTE_DIGIT,
    BYTE_UNDER,
    BYTE_HIGH = 8, /* beyond ASCII */
};
extern const uint8_t BYTE_CLASS[256];

static inline bool is_word_byte(unsigned char c)
{
    return BYTE_CLASS[c] >= BYTE_LOWER;
}

/* Keyword and severity of a word (scan/keywords.c). */
void word_class(struct str w, uint8_t *kw, uint8_t *sev);
