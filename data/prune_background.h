enum { BACKGROUND_SLOTS = 1 };
static const unsigned char BACKGROUND_TEXT[1] = { 0 };
static const unsigned char BACKGROUND_GOAL[1] = { 0 };
