/* health.h: the facts of seed 001's health, for the tool and for GET /health. */
#pragma once
#include "call/result.h"

void health_facts(struct result *r);
