// SPDX-License-Identifier: Apache-2.0
//
// A file is opened without following a link and without waiting, and checked again after that. It
// is the one that is known when its device and inode are, and when the hashes of its first bytes
// and of the bytes right before its place are the same.
#include "daemon/follow/watch_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "protocol/lang/timebase.h"
#include "protocol/table/hash_value.h"

#define FIRST_ROOM 4096 // bytes; a mapping is of whole pages

static void fill_stat(struct watch_stat *to, const struct stat *from) {
    *to = (struct watch_stat){
        .is_file = S_ISREG(from->st_mode),
        .is_folder = S_ISDIR(from->st_mode),
        .device = (int64_t)from->st_dev,
        .inode = (int64_t)from->st_ino,
        .size = from->st_size,
        .changed_ns = nvtxt_time_ns(from->st_mtim.tv_sec, from->st_mtim.tv_nsec),
        .uid = from->st_uid,
        .gid = from->st_gid,
        .links = (uint64_t)from->st_nlink,
    };
}

// ---- Folders ------------------------------------------------------------------------------------

// File systems that send events for changes of this machine only, or for none.
static bool is_silent(int fd) {
    static const unsigned long kinds[] = {NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC,  CIFS_SUPER_MAGIC,
                                          SMB2_SUPER_MAGIC, FUSE_SUPER_MAGIC, V9FS_MAGIC,
                                          AFS_SUPER_MAGIC,  CEPH_SUPER_MAGIC, CODA_SUPER_MAGIC,
                                          PROC_SUPER_MAGIC, SYSFS_MAGIC};
    struct statfs about;
    if (fstatfs(fd, &about) < 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if ((unsigned long)about.f_type == kinds[i]) {
            return true;
        }
    }
    return false;
}

// A list may have 100,000 names, and each thread of the pool would keep the memory of its largest
// one. So lists are in mappings of their own, and the system gets those back.
static void *take_room(struct watch_room *room, size_t bytes) {
    if (room->bytes - room->used < bytes) {
        size_t wanted = room->bytes ?: FIRST_ROOM;
        while (wanted - room->used < bytes) {
            wanted *= 2;
        }
        void *data = room->data ? mremap(room->data, room->bytes, wanted, MREMAP_MAYMOVE)
                                : mmap(NULL, wanted, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (data == MAP_FAILED) {
            return NULL;
        }
        room->data = data;
        room->bytes = wanted;
    }
    void *piece = (char *)room->data + room->used;
    room->used += bytes;
    return piece;
}

static void free_room(struct watch_room *room) {
    if (room->data) {
        munmap(room->data, room->bytes);
    }
}

// `name` of the new entry is set by set_names(): until then the texts may move.
static int add_entry(struct watch_list *list, int fd, const char *name) {
    struct stat stat;
    size_t size = strlen(name) + 1;
    char *text = take_room(&list->texts, size);
    struct watch_entry *entry = text ? take_room(&list->rows, sizeof(*entry)) : NULL;
    if (!entry) {
        return nvtxt_origin(-ENOMEM);
    }
    memcpy(text, name, size);
    *entry = (struct watch_entry){0};
    list->count++;
    if (fstatat(fd, name, &stat, AT_SYMLINK_NOFOLLOW) < 0) {
        entry->stat.error = errno == ENOENT ? WATCH_IO_ABSENT : nvtxt_origin(-errno);
    } else {
        fill_stat(&entry->stat, &stat);
    }
    return 0;
}

static void set_names(struct watch_list *list) {
    char *text = list->texts.data;
    list->entries = list->rows.data;
    for (size_t i = 0; i < list->count; i++) {
        list->entries[i].name = text;
        text += strlen(text) + 1;
    }
}

static int add_all(struct watch_list *list, DIR *folder, unsigned how) {
    struct dirent *each;
    int r = 0;
    errno = 0;
    while (r == 0 && (each = readdir(folder))) {
        if (!nvtxt_is_file_name(each->d_name) &&
            !((how & WATCH_IO_CAPTURES) && nvtxt_is_capture_name(each->d_name))) {
            continue;
        }
        if (list->count >= WATCH_IO_NAMES_MAX) {
            list->truncated = true;
            return 0;
        }
        r = add_entry(list, dirfd(folder), each->d_name);
        errno = 0;
    }
    if (r == 0) {
        list->error = nvtxt_origin(-errno);
    }
    return r;
}

// A link that leads nowhere is not the same as nothing: its target may come without an event in the
// folder of the link.
static int open_error(const char *folder, int error) {
    struct stat stat;
    if (error != ENOENT) {
        return nvtxt_origin(-error);
    }
    return lstat(folder, &stat) == 0 ? nvtxt_origin(-ELOOP) : WATCH_IO_ABSENT;
}

int watch_io_list(const char *folder, unsigned how, char *const *names, size_t count,
                  struct watch_list *list) {
    *list = (struct watch_list){.all = names == NULL};
    int no_link = how & WATCH_IO_NO_LINK ? O_NOFOLLOW : 0;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | no_link);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        list->error = open_error(folder, errno);
        if (fd >= 0) {
            close(fd);
        }
        return 0;
    }
    list->silent = is_silent(fd);
    int r = names ? 0 : add_all(list, stream, how);
    for (size_t i = 0; names && i < count && r == 0; i++) {
        r = add_entry(list, fd, names[i]);
    }
    closedir(stream);
    set_names(list);
    return r;
}

void watch_io_list_deinit(struct watch_list *list) {
    free_room(&list->rows);
    free_room(&list->texts);
    *list = (struct watch_list){0};
}

// ---- Files --------------------------------------------------------------------------------------

static ssize_t read_at(int fd, char *buffer, size_t size, uint64_t offset) {
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, buffer + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return nvtxt_origin(-errno);
        }
        if (n == 0) {
            break;
        }
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static int file_error(int error) {
    switch (error) {
    case ENOENT:
    case ESTALE:
        return WATCH_IO_ABSENT;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return WATCH_IO_SHORT;
    default:
        return nvtxt_origin(-error);
    }
}

static uint64_t hash_of(const char *data, ssize_t len) {
    return nvtxt_hash_stored(0, (struct nvtxt_slice){data, (size_t)len});
}

static bool stands(int fd, const struct store_followed *known, char *tail) {
    char head[WATCH_IO_HEAD_BYTES];
    if (known->head_bytes > sizeof(head) || known->tail_bytes > WATCH_IO_TAIL_BYTES ||
        known->tail_bytes > known->offset) {
        return false;
    }
    ssize_t n = read_at(fd, head, known->head_bytes, 0);
    if (n != (ssize_t)known->head_bytes || hash_of(head, n) != known->head_hash) {
        return false;
    }
    n = read_at(fd, tail, known->tail_bytes, known->offset - known->tail_bytes);
    return n == (ssize_t)known->tail_bytes && hash_of(tail, n) == known->tail_hash;
}

void watch_io_open(const char *path, const struct store_followed *known,
                   struct watch_opened *opened) {
    struct stat stat;
    *opened = (struct watch_opened){.fd = -1};
    // To open a pipe or a device may have an effect: so it is checked before, and again when it is
    // open.
    if (lstat(path, &stat) < 0) {
        opened->stat.error = file_error(errno);
        return;
    }
    if (!S_ISREG(stat.st_mode)) {
        opened->stat.error = WATCH_IO_ABSENT;
        return;
    }
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stat) < 0) {
        opened->stat.error = errno == ELOOP ? WATCH_IO_ABSENT : file_error(errno);
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    fill_stat(&opened->stat, &stat);
    if (!opened->stat.is_file || opened->stat.device != known->device ||
        opened->stat.inode != known->inode) {
        opened->stat.error = WATCH_IO_ABSENT;
        close(fd);
        return;
    }
    opened->fd = fd;
    opened->same = stands(fd, known, opened->tail);
}

void watch_io_read(int fd, char *buffer, size_t size, uint64_t offset, struct watch_read *result) {
    struct stat stat;
    ssize_t n = read_at(fd, buffer, size, offset);
    *result = (struct watch_read){.n = n < 0 ? 0 : (size_t)n};
    if (n < 0) {
        result->stat.error = file_error((int)-n);
    } else if (fstat(fd, &stat) < 0) {
        result->stat.error = file_error(errno);
    } else {
        fill_stat(&result->stat, &stat);
    }
}
