/* base64.h: bytes as letters, RFC 4648.
 *
 * Writes the form for URLs without padding; reads that and the ordinary one. */
#pragma once
#include "base/buf.h"

bool base64_add(struct buf *out, const void *p, size_t n);

/* Append the bytes of text; false where it is not base64. Padding may be there
 * or not; white space may not. */
bool base64_read(struct buf *out, struct str text);
