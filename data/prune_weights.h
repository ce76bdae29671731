const float TERM_WEIGHTS[PART_COUNT][REACHES][T_COUNT_] = { 0 };
const struct line_weights LINE_WEIGHTS[PART_COUNT] = { 0 };
