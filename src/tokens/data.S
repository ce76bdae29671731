/* data.S: the tables of data/, as they are, in the program. */
        .section .rodata
        .global tokens_table
        .hidden tokens_table
        .type tokens_table, %object
        .balign 64
tokens_table:
        .incbin "data/o200k.bin"
        .size tokens_table, . - tokens_table

        .global split_unicode
        .hidden split_unicode
        .type split_unicode, %object
        .balign 64
split_unicode:
        .incbin "data/unicode.bin"
        .size split_unicode, . - split_unicode

        .section .note.GNU-stack,"",%progbits
