// SPDX-License-Identifier: Apache-2.0
//
// A file that comes into a folder after the folder was listed and before its watch begins is found.
// The thread pool makes the list and the loop takes it. Here the pool has one thread: when the next
// piece of work runs, the list is made. The loop waits until the test goes on.
#include "daemon/follow/watch_state.h"

#include <semaphore.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tests/unit/server_kit.h"

struct watched {
    struct kit kit;
    struct watch watch;
    char parent[64], path[80], file[96];
};

static sem_t listed;

static void say_listed(uv_work_t *work) {
    (void)work;
    sem_post(&listed);
}

static void on_said(uv_work_t *work, int status) {
    (void)status;
    free(work);
}

static void begin(struct watched *watched) {
    struct store_file_list known = {0};
    setenv("UV_THREADPOOL_SIZE", "1", 1);
    sem_init(&listed, 0, 0);
    memset(watched, 0, sizeof(*watched));
    snprintf(watched->parent, sizeof(watched->parent), "/tmp/nvtxt-folder-XXXXXX");
    cr_assert_not_null(mkdtemp(watched->parent));
    snprintf(watched->path, sizeof(watched->path), "%s/in", watched->parent);
    snprintf(watched->file, sizeof(watched->file), "%s/a.nvtxt", watched->path);
    kit_open(&watched->kit);
    free(watched->kit.config.watch_directory);
    watched->kit.config.watch_directory = strdup(watched->path);
    cr_assert_eq(watch_start(&watched->watch, &watched->kit.server.hub, &known, 64), 0);
    cr_assert_not_null(watched->watch.folders);
}

static void end(struct watched *watched) {
    watch_stop(&watched->watch);
    kit_close(&watched->kit);
    watch_deinit(&watched->watch);
    unlink(watched->file);
    cr_assert_eq(rmdir(watched->path), 0);
    cr_assert_eq(rmdir(watched->parent), 0);
    sem_destroy(&listed);
}

// Waits until the list that was begun is made. The loop does not take it yet.
static void wait_for_list(struct watched *watched) {
    uv_work_t *work = calloc(1, sizeof(*work));
    cr_assert(watched->watch.folders->listing);
    cr_assert_eq(uv_queue_work(&watched->kit.loop, work, say_listed, on_said), 0);
    while (sem_wait(&listed) < 0)
        ;
}

static void settle(struct watched *watched) {
    while (folder_is_busy(watched->watch.folders)) {
        uv_run(&watched->kit.loop, UV_RUN_ONCE);
    }
}

Test(folder, that_comes_after_the_list_and_before_the_watch_above_it_is_found) {
    struct watched watched;
    begin(&watched);
    wait_for_list(&watched); // it is not there
    cr_assert_eq(mkdir(watched.path, 0700), 0);
    settle(&watched);
    cr_assert(watched.watch.folders->up);
    cr_assert_eq(watched.watch.folders->watching, FOLDER_WATCHES_ITSELF);
    end(&watched);
}

Test(folder, has_a_file_that_comes_after_the_list_and_before_its_watch) {
    struct watched watched;
    begin(&watched);
    settle(&watched);
    struct folder *folder = watched.watch.folders;
    cr_assert_eq(folder->watching, FOLDER_WATCHES_PARENT);
    cr_assert_eq(mkdir(watched.path, 0700), 0);
    while (!folder->listing) {
        uv_run(&watched.kit.loop, UV_RUN_ONCE);
    }
    wait_for_list(&watched);           // it is there, and empty
    watched.watch.lost.running = true; // else one begins now, and lists it again
    FILE *file = fopen(watched.file, "w");
    cr_assert_not_null(file);
    fclose(file);
    settle(&watched);
    cr_assert_eq(folder->watching, FOLDER_WATCHES_ITSELF);
    cr_assert_eq(folder->names.count, 1);
    end(&watched);
}
