// SPDX-License-Identifier: Apache-2.0
//
// Reading trusts no byte: a length is compared with the file's size before memory is asked for, and
// a record is handed out only after its checksum was right.
#include "client/spool/spool_segment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "protocol/base/origin.h"

#define SESSION_AT 12u
#define SESSION_BYTES 40u
#define FIRST_AT 52u
#define HEAD_CRC_AT 60u
#define LOST_AT 64u
#define LOST_CRC_AT 76u
#define READ_BYTES ((size_t)256 << 10)

static const char magic[8] = {'n', 'v', 't', 'x', 't', 's', 'p', 'l'};

static void put_le(unsigned char *to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) {
        to[i] = (unsigned char)(value >> 8 * i);
    }
}

static uint64_t get_le(const void *from, int bytes) {
    const unsigned char *byte = from;
    uint64_t value = 0;
    for (int i = bytes; i-- > 0;) {
        value = value << 8 | byte[i];
    }
    return value;
}

int segment_write_error(int error) {
    switch (error) {
    case ENOSPC:
        return SEGMENT_NO_DISK;
    case EDQUOT:
        return SEGMENT_NO_QUOTA;
    case EFBIG:
        return SEGMENT_NO_GROWTH;
    default:
        return nvtxt_origin(-error);
    }
}

// All of it at `at`.
static int write_all(int fd, const void *data, size_t len, uint64_t at) {
    const char *from = data;
    while (len > 0) {
        ssize_t n = pwrite(fd, from, len, (off_t)at);
        if (n < 0 && errno != EINTR) {
            return segment_write_error(errno);
        }
        if (n > 0) {
            from += n;
            at += (uint64_t)n;
            len -= (size_t)n;
        }
    }
    return 0;
}

// As much as there is. Returns the number of bytes or -errno.
static ssize_t read_all(int fd, void *data, size_t len, uint64_t at) {
    size_t got = 0;
    while (got < len) {
        ssize_t n = pread(fd, (char *)data + got, len - got, (off_t)(at + got));
        if (n < 0 && errno != EINTR) {
            return nvtxt_origin(-errno);
        }
        if (n == 0) {
            break;
        }
        got += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)got;
}

// ---- The head -----------------------------------------------------------------------------------

static void put_lost(unsigned char *to, const struct crc32c *crc, uint64_t lost) {
    memset(to, 0, SEGMENT_HEAD_BYTES - LOST_AT);
    if (lost > 0) {
        put_le(to, lost, 8);
        put_le(to + LOST_CRC_AT - LOST_AT, crc32c_add(crc, 0, to, LOST_CRC_AT - LOST_AT), 4);
    }
}

int segment_write_head(int fd, const struct crc32c *crc, const struct segment_head *head) {
    unsigned char bytes[SEGMENT_HEAD_BYTES] = {0};
    memcpy(bytes, magic, sizeof(magic));
    put_le(bytes + sizeof(magic), SEGMENT_VERSION, 4);
    memcpy(bytes + SESSION_AT, head->session, strlen(head->session));
    put_le(bytes + FIRST_AT, head->first, 8);
    put_le(bytes + HEAD_CRC_AT, crc32c_add(crc, 0, bytes, HEAD_CRC_AT), 4);
    put_lost(bytes + LOST_AT, crc, head->lost);
    return write_all(fd, bytes, sizeof(bytes), 0);
}

int segment_write_lost(int fd, const struct crc32c *crc, uint64_t lost) {
    unsigned char bytes[SEGMENT_HEAD_BYTES - LOST_AT];
    put_lost(bytes, crc, lost);
    return write_all(fd, bytes, sizeof(bytes), LOST_AT);
}

static bool read_lost(const unsigned char *bytes, const struct crc32c *crc, uint64_t *lost) {
    static const unsigned char none[SEGMENT_HEAD_BYTES - LOST_AT];
    *lost = get_le(bytes + LOST_AT, 8);
    if (memcmp(bytes + LOST_AT, none, sizeof(none)) == 0) {
        return true;
    }
    return *lost <= INT64_MAX && get_le(bytes + LOST_CRC_AT, 4) ==
                                     crc32c_add(crc, 0, bytes + LOST_AT, LOST_CRC_AT - LOST_AT);
}

static bool is_zero(const void *data, size_t len) {
    const char *byte = data;
    while (len > 0 && !*byte) {
        byte++;
        len--;
    }
    return len == 0;
}

// The head was never written. Was anything?
static int judge_unwritten(int fd) {
    char data[4096];
    uint64_t at = 0;
    ssize_t n;
    while ((n = read_all(fd, data, sizeof(data), at)) > 0 && is_zero(data, (size_t)n)) {
        at += (uint64_t)n;
    }
    return n < 0 ? (int)n : n > 0 ? SEGMENT_DAMAGED : SEGMENT_CUT;
}

static bool has_checksum(const unsigned char *bytes, const struct crc32c *crc) {
    return get_le(bytes + HEAD_CRC_AT, 4) == crc32c_add(crc, 0, bytes, HEAD_CRC_AT);
}

int segment_read_head(int fd, const struct crc32c *crc, struct segment_head *head) {
    unsigned char bytes[SEGMENT_HEAD_BYTES];
    *head = (struct segment_head){.first = 0};
    ssize_t n = read_all(fd, bytes, sizeof(bytes), 0);
    if (n < 0) {
        return (int)n;
    }
    if ((size_t)n < sizeof(bytes)) {
        return SEGMENT_CUT;
    }
    if (is_zero(bytes, sizeof(bytes))) {
        return judge_unwritten(fd);
    }
    head->version = (uint32_t)get_le(bytes + sizeof(magic), 4);
    if (memcmp(bytes, magic, sizeof(magic)) != 0 || !has_checksum(bytes, crc)) {
        return SEGMENT_DAMAGED;
    }
    if (head->version > SEGMENT_VERSION) {
        return SEGMENT_NEWER;
    }
    if (head->version != SEGMENT_VERSION || !read_lost(bytes, crc, &head->lost)) {
        return SEGMENT_DAMAGED;
    }
    size_t len = strnlen((char *)bytes + SESSION_AT, SESSION_BYTES);
    head->first = get_le(bytes + FIRST_AT, 8);
    if (len > NVTXT_SESSION_ID_BYTES || head->first == 0 || head->first > INT64_MAX) {
        return SEGMENT_DAMAGED;
    }
    memcpy(head->session, bytes + SESSION_AT, len);
    return 0;
}

// ---- Records ------------------------------------------------------------------------------------

static uint32_t record_crc(const struct crc32c *crc, uint64_t first, const unsigned char *sizes,
                           const char *data, size_t len) {
    unsigned char number[8];
    put_le(number, first, 8);
    uint32_t sum = crc32c_add(crc, 0, number, sizeof(number));
    sum = crc32c_add(crc, sum, sizes, 8);
    return crc32c_add(crc, sum, data, len);
}

int segment_append(int fd, const struct crc32c *crc, uint64_t at, uint64_t first, const char *data,
                   size_t len, uint32_t lines) {
    unsigned char head[SEGMENT_RECORD_BYTES];
    put_le(head, len, 4);
    put_le(head + 4, lines, 4);
    put_le(head + 8, record_crc(crc, first, head, data, len), 4);
    struct iovec pieces[] = {{head, sizeof(head)}, {(char *)(uintptr_t)data, len}};
    ssize_t n;
    do {
        n = pwritev(fd, pieces, 2, (off_t)at);
    } while (n < 0 && errno == EINTR);
    int r = n < 0 ? segment_write_error(errno) : 0;
    size_t done = n < 0 ? 0 : (size_t)n;
    if (r == 0 && done < sizeof(head)) {
        r = write_all(fd, head + done, sizeof(head) - done, at + done);
        done = sizeof(head);
    }
    if (r == 0) {
        done -= sizeof(head);
        r = write_all(fd, data + done, len - done, at + sizeof(head) + done);
    }
    if (r != 0) {
        (void)!ftruncate(fd, (off_t)at); // if not, the checksum shows that it is cut
    }
    return r;
}

void segment_reader_start(struct segment_reader *reader, int fd, uint64_t at, uint64_t line) {
    reader->fd = fd;
    reader->at = at;
    reader->line = line;
    reader->data_len = 0;
}

void segment_reader_deinit(struct segment_reader *reader) {
    free(reader->data);
    *reader = (struct segment_reader){.fd = -1};
}

// Has `len` bytes from `at` on in the buffer, or fewer where the file ends. Returns 0 or -errno.
static int have(struct segment_reader *reader, size_t len) {
    uint64_t skip = reader->at - reader->data_at;
    if (reader->at >= reader->data_at && skip <= reader->data_len &&
        reader->data_len - skip >= len) {
        return 0;
    }
    size_t cap = len > READ_BYTES ? len : READ_BYTES;
    if (cap > reader->data_cap) {
        char *data = realloc(reader->data, cap);
        if (!data) {
            return nvtxt_origin(-ENOMEM);
        }
        reader->data = data;
        reader->data_cap = cap;
    }
    reader->data_at = reader->at;
    reader->data_len = 0;
    ssize_t n = read_all(reader->fd, reader->data, cap, reader->at);
    if (n < 0) {
        return (int)n;
    }
    reader->data_len = (size_t)n;
    return 0;
}

static size_t held(const struct segment_reader *reader) {
    return reader->data_len - (size_t)(reader->at - reader->data_at);
}

static const char *here(const struct segment_reader *reader) {
    return reader->data + (reader->at - reader->data_at);
}

// A forged checksum can fit, and later code relies on the number of lines.
static bool holds_lines(const char *data, size_t len, uint32_t lines) {
    const char *end = data + len;
    uint32_t found = 0;
    for (const char *lf; data < end && (lf = memchr(data, '\n', (size_t)(end - data))); found++) {
        data = lf + 1;
    }
    return data == end && found == lines && lines > 0;
}

int segment_next(struct segment_reader *reader, const struct crc32c *crc,
                 struct segment_record *record) {
    int r = have(reader, SEGMENT_RECORD_BYTES);
    if (r < 0) {
        return r;
    }
    if (held(reader) < SEGMENT_RECORD_BYTES) {
        return held(reader) == 0 ? SEGMENT_END : SEGMENT_DAMAGED;
    }
    size_t len = (size_t)get_le(here(reader), 4);
    uint32_t lines = (uint32_t)get_le(here(reader) + 4, 4);
    struct stat status;
    if (len > held(reader) - SEGMENT_RECORD_BYTES) {
        if (fstat(reader->fd, &status) != 0) {
            return nvtxt_origin(-errno);
        }
        if ((uint64_t)status.st_size < reader->at || len > (uint64_t)status.st_size - reader->at) {
            return SEGMENT_DAMAGED;
        }
    }
    r = have(reader, SEGMENT_RECORD_BYTES + len);
    if (r < 0) {
        return r;
    }
    const char *head = here(reader);
    const char *data = head + SEGMENT_RECORD_BYTES;
    if (held(reader) < SEGMENT_RECORD_BYTES + len ||
        get_le(head + 8, 4) !=
            record_crc(crc, reader->line, (const unsigned char *)head, data, len) ||
        !holds_lines(data, len, lines)) {
        return SEGMENT_DAMAGED;
    }
    *record = (struct segment_record){data, len, lines};
    reader->at += SEGMENT_RECORD_BYTES + len;
    reader->line += lines;
    return 0;
}

// ---- What a damaged end is ----------------------------------------------------------------------

#define UNWRITTEN_BYTES 512u // aligned: no file system writes less

// The bytes after a damaged record.
struct segment_search {
    struct segment_reader *reader;
    const struct crc32c *crc;
    uint64_t size;      // of the file
    uint64_t most_read; // a forged file could make us read all its bytes once for each of them
};

// Computes the remainder of a record without the line number before it. Returns 1, 0 when these are
// not so many lines, or -errno.
static int add_lines(const struct segment_search *search, uint64_t at, const unsigned char *sizes,
                     uint32_t *rest) {
    struct segment_reader *reader = search->reader;
    size_t left = (size_t)get_le(sizes, 4);
    uint64_t lines = get_le(sizes + 4, 4);
    uint64_t found = 0;
    char last = 0;
    uint32_t sum = crc32c_add(search->crc, UINT32_MAX, sizes, 8);
    for (reader->at = at; left > 0;) {
        int r = have(reader, 1);
        size_t n = held(reader) < left ? held(reader) : left;
        if (r < 0 || n == 0) {
            return r;
        }
        const char *data = here(reader);
        for (size_t i = 0; i < n; i++) {
            found += data[i] == '\n';
        }
        last = data[n - 1];
        sum = crc32c_add(search->crc, sum, data, n);
        reader->at += n;
        left -= n;
    }
    *rest = ~sum;
    return last == '\n' && found == lines;
}

// Whether the record at `at`, with these 12 bytes before its lines, is whole and begins with a line
// from `from` to `to`: the checksum tells which line that is. Returns 1, 0 or -errno.
static int is_record(struct segment_search *search, uint64_t at, const unsigned char *head,
                     uint64_t from, uint64_t to) {
    uint64_t len = get_le(head, 4);
    uint64_t lines = get_le(head + 4, 4);
    uint64_t room = search->size - at - SEGMENT_RECORD_BYTES;
    char last = 0;
    uint32_t rest = 0;
    if (lines == 0 || lines > len || len > room) {
        return 0;
    }
    if (pread(search->reader->fd, &last, 1, (off_t)(at + SEGMENT_RECORD_BYTES + len - 1)) < 0) {
        return nvtxt_origin(-errno);
    }
    if (last != '\n') {
        return 0;
    }
    search->most_read -= len < search->most_read ? len : search->most_read;
    int r = add_lines(search, at + SEGMENT_RECORD_BYTES, head, &rest);
    if (r <= 0) {
        return r;
    }
    rest = crc32c_back(rest ^ ~(uint32_t)get_le(head + 8, 4), (size_t)len + 8);
    for (uint64_t high = from >> 32; high <= to >> 32; high++) {
        uint32_t low = ~crc32c_back(crc32c_back(rest, 4) ^ (uint32_t)high, 4);
        uint64_t number = high << 32 | low;
        if (number >= from && number <= to) {
            return 1;
        }
    }
    return 0;
}

// Whether a record with lines after `line`, with which the one at `at` begins, follows that one.
// The distance limits how many lines there can be in between. Returns 1, 0 or -errno.
static int find_later(struct segment_search *search, uint64_t at, uint64_t line) {
    struct segment_reader *reader = search->reader;
    int r = 0;
    for (uint64_t place = at + 1; r == 0 && place + SEGMENT_RECORD_BYTES < search->size; place++) {
        unsigned char head[SEGMENT_RECORD_BYTES];
        reader->at = place;
        r = have(reader, sizeof(head));
        if (r < 0 || held(reader) < sizeof(head)) {
            return r;
        }
        memcpy(head, here(reader), sizeof(head));
        r = is_record(search, place, head, line + 1, line + (place - at));
        if (r == 0 && search->most_read == 0) {
            return 1; // no writer that is killed leaves such a thing
        }
    }
    return r;
}

// Whether the first record of a file that begins with `line` is an old one: all old ones were
// acknowledged, and the process or its machine died before they were cut off. The first one
// decides, because those after it need not have reached the disk. Returns 1, 0 or -errno.
static int is_before(struct segment_search *search, uint64_t line) {
    struct segment_reader *reader = search->reader;
    unsigned char head[SEGMENT_RECORD_BYTES];
    reader->at = SEGMENT_HEAD_BYTES;
    int r = have(reader, sizeof(head));
    if (r < 0 || held(reader) < sizeof(head) || line == 1) {
        return r;
    }
    memcpy(head, here(reader), sizeof(head));
    uint64_t most = search->size; // a line has a byte
    return is_record(search, SEGMENT_HEAD_BYTES, head, line > most ? line - most : 1, line - 1);
}

// Whether a block of the file from `at` on was never written: it reads as zeros. Returns 1, 0 or
// -errno.
static int lacks_block(const struct segment_search *search, uint64_t at) {
    struct segment_reader *reader = search->reader;
    uint64_t place = (at + UNWRITTEN_BYTES - 1) / UNWRITTEN_BYTES * UNWRITTEN_BYTES;
    for (; place + SEGMENT_RECORD_BYTES <= search->size; place += UNWRITTEN_BYTES) {
        reader->at = place;
        int r = have(reader, UNWRITTEN_BYTES);
        if (r < 0) {
            return r;
        }
        size_t len = held(reader) < UNWRITTEN_BYTES ? held(reader) : UNWRITTEN_BYTES;
        if (len > 0 && is_zero(here(reader), len)) {
            return 1;
        }
    }
    return 0;
}

// The record at `at` is the last one. Returns 1 when it is cut, 0 or -errno.
static int is_cut(struct segment_search *search, uint64_t at, uint64_t line) {
    struct segment_reader *reader = search->reader;
    unsigned char head[SEGMENT_RECORD_BYTES];
    reader->at = at;
    int r = have(reader, sizeof(head));
    if (r < 0) {
        return r;
    }
    if (held(reader) < sizeof(head) || is_zero(here(reader), sizeof(head))) {
        return 1;
    }
    memcpy(head, here(reader), sizeof(head));
    uint64_t room = search->size - at - sizeof(head);
    if (get_le(head, 4) > room) { // or is only its length wrong?
        put_le(head, room, 4);
        r = is_record(search, at, head, line, line);
        return r < 0 ? r : !r;
    }
    return lacks_block(search, at);
}

int segment_judge(struct segment_reader *reader, const struct crc32c *crc) {
    struct segment_search search = {.reader = reader, .crc = crc};
    uint64_t at = reader->at;
    uint64_t line = reader->line;
    struct stat status;
    if (fstat(reader->fd, &status) != 0) {
        return nvtxt_origin(-errno);
    }
    search.size = (uint64_t)status.st_size;
    search.most_read = 8 * search.size;
    int r = at == SEGMENT_HEAD_BYTES ? is_before(&search, line) : 0;
    if (r != 0) {
        return r < 0 ? r : SEGMENT_CUT;
    }
    r = find_later(&search, at, line);
    if (r != 0) {
        return r < 0 ? r : SEGMENT_DAMAGED;
    }
    r = is_cut(&search, at, line);
    return r < 0 ? r : r ? SEGMENT_CUT : SEGMENT_DAMAGED;
}
