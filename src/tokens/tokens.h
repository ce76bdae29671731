/* tokens.h: how many tokens a text is.
 *
 * Exactly what o200k_base (GPT-4o and later) makes of it; no special tokens.
 * tests/tokens.mjs compares with gpt-tokenizer; like that, U+0085 is no white
 * space and 'ſ no contraction, unlike it, U+FEFF is one token. What is not UTF-8
 * counts as U+FFFD, as it would be sent.
 *
 * From any thread; each that counts keeps 200 KB of what it met, to be faster.
 * The tables are part of the program and are read from disk when the first text
 * is counted. Some 100 to 180 MB/s; no text takes more than linear time times a
 * logarithm. */
#pragma once
#include "base/str.h"

size_t tokens_count(struct str text);
