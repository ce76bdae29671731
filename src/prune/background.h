/* background.h: how common a stem is in code, docs and goals at large.
 *
 * From the training texts (data/prune_background.h, made by `make train`): the
 * logarithm of how many hold it, 0 for a stem that next to none does. */
#pragma once
#include <stdint.h>

float background_text(uint32_t stem);
float background_goal(uint32_t stem);
