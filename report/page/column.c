// SPDX-License-Identifier: Apache-2.0
//
// Numbers fill a block, a full block goes through zlib, and what zlib gives is written in groups of
// three bytes. Zeros at the start are only counted until another number comes.
//
// zlib spends most of its time on the search for earlier equal bytes, and times of real programs
// have none. So the beginning of every few blocks is packed in two ways, apart from the column; the
// search goes on only if it saves enough.
#include "report/page/timeline.h"

#include <stdlib.h>
#include <zlib.h>

#define BLOCK ((size_t)64 << 10)
#define PACKED ((size_t)48 << 10) // a multiple of 3
#define LONGEST 10                // bytes of a number
#define LEVEL 4
#define WINDOW (-15) // the largest one, without a header
#define MEMORY 9
#define TRIAL 16                 // blocks from one trial to the next
#define TRIED ((size_t)16 << 10) // the bytes of a block that are enough for a trial
#define WORTH 16                 // the search saves more than 1/16 of the bytes

struct page_columns {
    struct nvtxt_out *out;
    const char *name;
    bool any;       // a column was written
    uint64_t zeros; // at the start of this column, not written yet
    bool begun;     // its name and quote are written
    z_stream zip, trial;
    unsigned blocks; // of this column, packed
    size_t len;      // of `block`
    unsigned char block[BLOCK + LONGEST];
    unsigned char packed[PACKED];
    unsigned char tried[2 * TRIED];
};

static bool init(z_stream *zip) {
    return deflateInit2(zip, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
}

struct page_columns *page_columns_new(struct nvtxt_out *out) {
    struct page_columns *columns = calloc(1, sizeof(*columns));
    if (columns && !(init(&columns->zip) && init(&columns->trial))) {
        page_columns_free(columns);
        return NULL;
    }
    if (columns) {
        columns->out = out;
    }
    return columns;
}

void page_columns_free(struct page_columns *columns) {
    if (columns) {
        deflateEnd(&columns->zip); // of one that was not begun: an error, and nothing else
        deflateEnd(&columns->trial);
        free(columns);
    }
}

// ---- base64 -------------------------------------------------------------------------------------

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Only the last call may have a length that is no multiple of 3.
static void put_base64(struct nvtxt_out *out, const unsigned char *bytes, size_t len) {
    char *to = nvtxt_out_room(out, (len + 2) / 3 * 4);
    if (!to) {
        return;
    }
    const char *begin = to;
    for (size_t i = 0; i < len; i += 3) {
        unsigned second = i + 1 < len ? bytes[i + 1] : 0, third = i + 2 < len ? bytes[i + 2] : 0;
        unsigned group = (unsigned)bytes[i] << 16 | second << 8 | third;
        to[0] = digits[group >> 18];
        to[1] = digits[group >> 12 & 63];
        to[2] = i + 1 < len ? digits[group >> 6 & 63] : '=';
        to[3] = i + 2 < len ? digits[group & 63] : '=';
        to += 4;
    }
    out->len += (size_t)(to - begin);
}

// ---- A column -----------------------------------------------------------------------------------

// How many bytes the beginning of the block has when it is packed in that way.
static size_t try_strategy(struct page_columns *columns, int strategy) {
    z_stream *trial = &columns->trial;
    deflateReset(trial);
    deflateParams(trial, LEVEL, strategy);
    trial->next_in = columns->block;
    trial->avail_in = (unsigned)nvtxt_min(columns->len, TRIED);
    trial->next_out = columns->tried;
    trial->avail_out = sizeof(columns->tried);
    deflate(trial, Z_FINISH);
    return sizeof(columns->tried) - trial->avail_out;
}

// Z_RLE looks only for repetitions of one byte.
static int best_strategy(struct page_columns *columns) {
    size_t runs = try_strategy(columns, Z_RLE);
    return try_strategy(columns, Z_DEFAULT_STRATEGY) < runs - runs / WORTH ? Z_DEFAULT_STRATEGY
                                                                           : Z_RLE;
}

// Hands over what zlib has packed: when there is no more room, or at the end.
static void put_packed(struct page_columns *columns) {
    put_base64(columns->out, columns->packed, PACKED - columns->zip.avail_out);
    columns->zip.next_out = columns->packed;
    columns->zip.avail_out = PACKED;
}

// Ends what was packed in the other way; no byte may wait.
static void set_strategy(struct page_columns *columns, int strategy) {
    while (deflateParams(&columns->zip, LEVEL, strategy) == Z_BUF_ERROR &&
           columns->zip.avail_out == 0) {
        put_packed(columns);
    }
}

static void pack(struct page_columns *columns, bool last) {
    z_stream *zip = &columns->zip;
    if (columns->blocks++ % TRIAL == 0) {
        set_strategy(columns, best_strategy(columns));
    }
    zip->next_in = columns->block;
    zip->avail_in = (unsigned)columns->len;
    for (;;) {
        // Z_BUF_ERROR says only that there was nothing to do.
        int r = deflate(zip, last ? Z_FINISH : Z_NO_FLUSH);
        if (zip->avail_out > 0 && !(last && r == Z_STREAM_END)) {
            break;
        }
        put_packed(columns);
        if (r == Z_STREAM_END) {
            break;
        }
    }
    columns->len = 0;
}

static void put(struct page_columns *columns, const uint64_t *values, size_t count) {
    for (size_t i = 0; i < count;) {
        unsigned char *to = columns->block + columns->len;
        const unsigned char *end = columns->block + BLOCK;
        while (i < count && to < end) {
            uint64_t value = values[i++];
            while (value >= 0x80) {
                *to++ = (unsigned char)(value | 0x80);
                value >>= 7;
            }
            *to++ = (unsigned char)value;
        }
        columns->len = (size_t)(to - columns->block);
        if (columns->len >= BLOCK) {
            pack(columns, false);
        }
    }
}

void page_column_begin(struct page_columns *columns, const char *name) {
    columns->name = name;
    columns->zeros = 0;
    columns->begun = false;
    columns->len = 0;
    columns->blocks = 0;
    deflateReset(&columns->zip);
    columns->zip.next_out = columns->packed;
    columns->zip.avail_out = PACKED;
}

static void begin(struct page_columns *columns) {
    nvtxt_out_bytes(columns->out, ",\n", columns->any ? 2 : 0);
    NVTXT_OUT_LITERAL(columns->out, "\"");
    nvtxt_out_slice(columns->out, nvtxt_slice_of(columns->name));
    NVTXT_OUT_LITERAL(columns->out, "\":\"");
    columns->any = columns->begun = true;
    for (uint64_t zero = 0; columns->zeros > 0; columns->zeros--) {
        put(columns, &zero, 1);
    }
}

void page_column_add(struct page_columns *columns, const uint64_t *values, size_t count) {
    size_t zeros = 0;
    while (!columns->begun && zeros < count && values[zeros] == 0) {
        zeros++;
    }
    columns->zeros += zeros;
    if (zeros < count) {
        if (!columns->begun) {
            begin(columns);
        }
        put(columns, values + zeros, count - zeros);
    }
}

void page_column_end(struct page_columns *columns) {
    if (columns->begun) {
        pack(columns, true);
        NVTXT_OUT_LITERAL(columns->out, "\"");
    }
}
