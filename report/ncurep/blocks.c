// SPDX-License-Identifier: Apache-2.0
//
// Sizes are compared with what is left before anything is read. Which fields hold messages stands
// in tables, one for each message, and they contain no circle, so the check goes no deeper than
// they do: seven messages in each other.
#include "report/ncurep/blocks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/ncurep/known.h"
#include "report/ncurep/wire.h"

static const char magic[4] = {'N', 'V', 'R', '\0'};
#define SIZE_BYTES 4

static int __attribute__((format(printf, 3, 4)))
refuse(struct report_ncurep_fault *fault, size_t offset, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(fault->what, sizeof(fault->what), format, args);
    va_end(args);
    fault->offset = offset;
    return NVTXT_WRONG;
}

static int refuse_wire(struct report_ncurep_fault *fault, struct nvtxt_slice file,
                       const struct report_wire *wire) {
    return refuse(fault, (size_t)(wire->at - file.data), "%s", wire->what);
}

static uint32_t read_size(const char *at) {
    const unsigned char *bytes = (const unsigned char *)at;
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

// A size and a message of it. Returns 0 or NVTXT_WRONG.
static int read_sized(struct nvtxt_slice file, size_t *at, size_t end, const char *what,
                      struct nvtxt_slice *message, struct report_ncurep_fault *fault) {
    if (end - *at < SIZE_BYTES) {
        return refuse(fault, *at, "the size of %s is cut off", what);
    }
    uint32_t size = read_size(file.data + *at);
    if (size > end - *at - SIZE_BYTES) {
        return refuse(fault, *at, "%s has %u bytes, but %zu are left", what, size,
                      end - *at - SIZE_BYTES);
    }
    *message = (struct nvtxt_slice){file.data + *at + SIZE_BYTES, size};
    *at += SIZE_BYTES + (size_t)size;
    return 0;
}

static int read_file_header(struct report_blocks *blocks, struct report_ncurep_fault *fault) {
    struct nvtxt_slice header, file = blocks->file;
    struct report_wire_field field;
    uint64_t version = 0;
    size_t at = sizeof(magic), place = at + SIZE_BYTES;
    if (file.len < sizeof(magic) || memcmp(file.data, magic, sizeof(magic)) != 0) {
        return refuse(fault, 0, "this is no report file of Nsight Compute");
    }
    int r = read_sized(file, &at, file.len, "the file's header", &header, fault);
    if (r != 0) {
        return r;
    }
    struct report_wire wire = report_wire_of(header);
    for (size_t begin = place; (r = (int)report_wire_next(&wire, &field)) == REPORT_WIRE_FIELD;
         begin = (size_t)(wire.at - file.data)) {
        if (field.number == NCUREP_FILE_VERSION && field.type == REPORT_WIRE_VARINT) {
            version = field.value;
            place = begin;
        }
    }
    if (r == REPORT_WIRE_BROKEN) {
        return refuse_wire(fault, file, &wire);
    }
    if (version != REPORT_NCUREP_VERSION) {
        return refuse(fault, place, "version %llu is not supported, only %d",
                      (unsigned long long)version, REPORT_NCUREP_VERSION);
    }
    blocks->at = at;
    return 0;
}

static int read_block(struct report_blocks *blocks, struct report_block *block,
                      struct report_ncurep_fault *fault) {
    struct nvtxt_slice file = blocks->file;
    struct report_wire_field field;
    uint64_t size = 0;
    *block = (struct report_block){.sources = 0};
    int r = read_sized(file, &blocks->at, file.len, "a block's header", &block->header, fault);
    if (r != 0) {
        return r;
    }
    struct report_wire wire = report_wire_of(block->header);
    while ((r = (int)report_wire_next(&wire, &field)) == REPORT_WIRE_FIELD) {
        if (field.type != REPORT_WIRE_VARINT) {
            continue;
        }
        if (field.number == NCUREP_BLOCK_SOURCES) {
            block->sources = field.value;
        } else if (field.number == NCUREP_BLOCK_RESULTS) {
            block->results = field.value;
        } else if (field.number == NCUREP_BLOCK_PAYLOAD_SIZE) {
            size = field.value;
        }
    }
    if (r == REPORT_WIRE_BROKEN) {
        return refuse_wire(fault, file, &wire);
    }
    if (size > file.len - blocks->at) {
        return refuse(fault, blocks->at, "a payload has %llu bytes, but %zu are left",
                      (unsigned long long)size, file.len - blocks->at);
    }
    block->payload = (struct nvtxt_slice){file.data + blocks->at, (size_t)size};
    blocks->at += (size_t)size;
    return REPORT_BLOCKS_MORE;
}

int report_blocks_next(struct report_blocks *blocks, struct report_block *block,
                       struct report_ncurep_fault *fault) {
    int r = blocks->at == 0 ? read_file_header(blocks, fault) : 0;
    if (r != 0) {
        return r;
    }
    return blocks->at == blocks->file.len ? 0 : read_block(blocks, block, fault);
}

// ---- Entries ------------------------------------------------------------------------------------

static int next_entry(struct report_entries *entries, struct nvtxt_slice file, const char *what,
                      struct nvtxt_slice *message, struct report_ncurep_fault *fault) {
    size_t at = (size_t)(entries->at - file.data);
    int r = read_sized(file, &at, (size_t)(entries->end - file.data), what, message, fault);
    entries->at = file.data + at;
    return r;
}

bool report_entries_start(struct report_entries *entries, struct nvtxt_slice file,
                          const struct report_block *block, struct report_ncurep_fault *fault) {
    struct nvtxt_slice source;
    *entries = (struct report_entries){block->payload.data,
                                       block->payload.data + block->payload.len, block->results};
    for (uint64_t i = 0; i < block->sources; i++) {
        if (next_entry(entries, file, "a source", &source, fault) != 0) {
            return false;
        }
    }
    return true;
}

int report_entries_next(struct report_entries *entries, struct nvtxt_slice file,
                        struct nvtxt_slice *result, struct report_ncurep_fault *fault) {
    if (entries->left == 0) {
        return 0;
    }
    entries->left--;
    int r = next_entry(entries, file, "a result", result, fault);
    return r ?: REPORT_BLOCKS_MORE;
}

// ---- The check ----------------------------------------------------------------------------------

// A field that holds a message; the list ends with number 0.
struct inner {
    uint32_t number;
    const struct inner *fields;
};

static const struct inner plain[] = {{0, NULL}};
static const struct inner element[] = {
    {NCUREP_ELEMENT_ID, plain}, {NCUREP_ELEMENT_VALUE, plain}, {0, NULL}};
static const struct inner metric[] = {
    {NCUREP_METRIC_VALUE, plain}, {NCUREP_METRIC_ELEMENT, element}, {0, NULL}};
static const struct inner attributes[] = {{NCUREP_ATTRIBUTES_COLOR, plain},
                                          {NCUREP_ATTRIBUTES_PAYLOAD, plain},
                                          {NCUREP_ATTRIBUTES_MESSAGE, plain},
                                          {0, NULL}};
static const struct inner push[] = {{NCUREP_PUSH_ATTRIBUTES, attributes}, {0, NULL}};
static const struct inner start[] = {{NCUREP_START_ATTRIBUTES, attributes}, {0, NULL}};
static const struct inner pushes[] = {{NCUREP_PILE_RANGE, push}, {0, NULL}};
static const struct inner starts[] = {{NCUREP_PILE_RANGE, start}, {0, NULL}};
static const struct inner thread[] = {{NCUREP_THREAD_DOMAIN, pushes}, {0, NULL}};
static const struct inner domain[] = {{NCUREP_DOMAIN_STRING, plain}, {0, NULL}};
static const struct inner state[] = {{NCUREP_STATE_DOMAIN, domain},
                                     {NCUREP_STATE_THREAD, thread},
                                     {NCUREP_STATE_START_END, starts},
                                     {0, NULL}};
static const struct inner result_fields[] = {
    {NCUREP_RESULT_METRIC, metric}, {NCUREP_RESULT_NVTX, state}, {0, NULL}};
static const struct inner session[] = {{NCUREP_SESSION_VERSION, plain}, {0, NULL}};
static const struct inner header_fields[] = {{NCUREP_BLOCK_SESSION, session},
                                             {NCUREP_BLOCK_STRINGS, plain},
                                             {NCUREP_BLOCK_PROCESS, plain},
                                             {0, NULL}};

static int check(struct nvtxt_slice file, struct nvtxt_slice message, const struct inner *fields,
                 struct report_ncurep_fault *fault) {
    struct report_wire wire = report_wire_of(message);
    struct report_wire_field field;
    int r;
    while ((r = (int)report_wire_next(&wire, &field)) == REPORT_WIRE_FIELD) {
        const struct inner *inner = fields;
        while (inner->number != 0 && inner->number != field.number) {
            inner++;
        }
        if (inner->number != 0 && field.type == REPORT_WIRE_BYTES) {
            r = check(file, field.bytes, inner->fields, fault);
            if (r != 0) {
                return r;
            }
        }
    }
    return r == REPORT_WIRE_BROKEN ? refuse_wire(fault, file, &wire) : 0;
}

static int check_block(struct nvtxt_slice file, const struct report_block *block,
                       struct report_ncurep_fault *fault) {
    struct report_entries entries;
    struct nvtxt_slice result;
    int r = check(file, block->header, header_fields, fault);
    if (r != 0 || !report_entries_start(&entries, file, block, fault)) {
        return NVTXT_WRONG;
    }
    while (r == 0 &&
           (r = report_entries_next(&entries, file, &result, fault)) == REPORT_BLOCKS_MORE) {
        r = check(file, result, result_fields, fault);
    }
    return r;
}

int report_blocks_check(struct nvtxt_slice file, struct report_ncurep_fault *fault) {
    struct report_blocks blocks = {.file = file};
    struct report_block block;
    int r = 0;
    while (r == 0 && (r = report_blocks_next(&blocks, &block, fault)) == REPORT_BLOCKS_MORE) {
        r = check_block(file, &block, fault);
    }
    return r;
}
