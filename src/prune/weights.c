/* weights.c: the learned numbers, compiled in. */
#include "prune/weights.h"

#include <data/prune_weights.h>
