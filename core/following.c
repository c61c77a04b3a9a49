/* SPDX-License-Identifier: Apache-2.0
 *
 * A query over growing files.
 */
#include "following.h"

#include "clock.h"
#include "config.h"
#include "follow-journal.h"
#include "follow.h"
#include "following-place.h"
#include "input-head.h"
#include "journal.h"
#include "queue.h"

#include <bytes.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define QUEUE_LEN 4u
#define NR_POLLS 4u /* beside the journals */

/* One event on its way, with copies of what it points to. */
struct entry {
    bool is_end_of_scan; /* nothing else is set */
    enum follow_kind kind;
    uint32_t source;
    uint32_t generation;
    struct source_desc desc;   /* SOURCE */
    char text[ERROR_TEXT_MAX]; /* NOTE, LOG */
    struct buf mem;            /* DATA; SOURCE: what the file begins with */
    size_t len;
    uint32_t flags;
    uint64_t offset;
};

struct following {
    struct lane_shared *sh;
    struct lane *lane;
    struct follow *follow;           /* NULL: no files */
    struct follow_journal *journals; /* NULL: none; their sources come first */
    struct pollfd *polls;            /* room for those */
    struct queue queue;
    struct entry ring[QUEUE_LEN];
    struct place *places; /* by the follow engine's source number */
    size_t nr_places;
    size_t nr_stopped;
    uint64_t seq;
    int64_t next_drain_ms; /* 0: no intervals */
    bool is_journals_turn; /* reader */
    bool is_scanned;       /* the first look at the files is over (reader) */
};

/* ---- the reader's side ---- */

/* What a file begins with, where it is not read from its begin: plugins may
 * need its first line (dt_source.head). Unreadable: it is not known. */
static void
read_first_bytes(struct entry *e, const struct follow_event *ev)
{
    ssize_t n = -1;

    if (ev->offset > 0) {
        n = pread(ev->fd, e->mem.data, INPUT_HEAD_MAX, 0);
    }
    e->len = n > 0 ? (size_t)n : 0;
}

static int
copy_event(struct entry *e, const struct follow_event *ev,
           uint32_t first_source)
{
    const struct source_desc d = {.name = (char *)(uintptr_t)ev->name,
                                  .name_len = ev->name ? strlen(ev->name) : 0,
                                  .path = (char *)(uintptr_t)ev->path,
                                  .generation = ev->generation + 1,
                                  .dev = ev->dev,
                                  .ino = ev->ino,
                                  .fingerprint =
                                      (char *)(uintptr_t)ev->fingerprint,
                                  .offset = ev->offset};

    e->is_end_of_scan = false;
    e->kind = ev->kind;
    e->source = ev->source + first_source;
    e->generation = ev->generation + 1;
    e->len = ev->len;
    e->flags = ev->flags;
    e->offset = ev->offset;
    if (ev->kind == FOLLOW_SOURCE) {
        read_first_bytes(e, ev);
        source_desc_fini(&e->desc);
        return source_desc_copy(&e->desc, &d);
    }
    if (ev->kind == FOLLOW_NOTE || ev->kind == FOLLOW_LOG) {
        snprintf(e->text, sizeof(e->text), "%s", ev->text);
    }
    return DT_OK;
}

/* Polls the first descriptors of f->polls, and the journals'. */
static int
poll_all(struct following *f, size_t nr)
{
    int timeout_ms = -1, rc;

    if (!f->journals) {
        return poll(f->polls, nr, -1);
    }
    nr += follow_journal_poll(f->journals, f->polls + nr, &timeout_ms);
    rc = poll(f->polls, nr, timeout_ms);
    follow_journal_process(f->journals);
    return rc;
}

/* Waits until the files, the queue or somebody's wish to end say something.
 * DT_STOP: it is time to end. */
static int
wait_for_more(struct following *f, bool is_full)
{
    struct pollfd *p = f->polls;
    struct error err = ERROR_INIT;
    eventfd_t ignored;

    p[0] = (struct pollfd){.fd = f->follow ? follow_fd(f->follow) : -1,
                           .events = POLLIN};
    p[1] = (struct pollfd){.fd = f->sh->cancel->fd, .events = POLLIN};
    p[2] =
        (struct pollfd){.fd = inputs_stop_fd(f->sh->inputs), .events = POLLIN};
    p[3] = (struct pollfd){.fd = is_full ? queue_room_fd(&f->queue) : -1,
                           .events = POLLIN};
    if (poll_all(f, NR_POLLS) < 0) {
        return errno == EINTR ? DT_OK : DT_ERR_IO;
    }
    if (p[1].revents || p[2].revents) {
        return DT_STOP;
    }
    if (p[3].revents) {
        eventfd_read(queue_room_fd(&f->queue), &ignored);
    }
    /* rotations are noticed also while nobody takes the lines */
    return is_full && p[0].revents ? follow_watch(f->follow, &err) : DT_OK;
}

/* The next event of a file or of a journal, in turn. */
static int
next_event(struct following *f, char *buffer, size_t cap,
           struct follow_event *ev, uint32_t *first_source, struct error *err)
{
    int rc = DT_AGAIN;

    f->is_journals_turn = !f->is_journals_turn;
    for (int i = 0; i < 2 && rc == DT_AGAIN; i++) {
        bool is_journal = f->is_journals_turn == (i == 0);

        *first_source = is_journal ? 0 : follow_journal_count(f->journals);
        if (is_journal && f->journals) {
            rc = follow_journal_next(f->journals, buffer, cap, ev);
        } else if (!is_journal && f->follow) {
            rc = follow_next(f->follow, buffer, cap, ev, err);
        }
    }
    return rc;
}

static int
read_event(struct following *f, struct entry *e, size_t cap, struct error *err)
{
    struct follow_event ev;
    uint32_t first_source;
    int rc;

    if (e->mem.cap < cap + BYTES_SLACK) {
        if (buf_reserve(&e->mem, cap + BYTES_SLACK) != DT_OK) {
            return DT_ERR_NOMEM;
        }
        memset(e->mem.data + cap, 0, BYTES_SLACK);
    }
    rc = next_event(f, e->mem.data, cap, &ev, &first_source, err);
    if (rc == DT_OK && ev.kind == FOLLOW_DATA && ev.data != e->mem.data) {
        memmove(e->mem.data, ev.data, ev.len);
    }
    return rc == DT_OK ? copy_event(e, &ev, first_source) : rc;
}

static int
read_all(struct following *f, struct error *err)
{
    size_t max = (size_t)f->sh->env->config->server.max_line_length;
    size_t cap = follow_min_cap(max);
    size_t place;
    int rc;

    if (cap < INPUTS_SLICE) {
        cap = INPUTS_SLICE;
    }
    for (;;) {
        rc = queue_room(&f->queue, false, &place);
        if (rc == DT_AGAIN) {
            rc = wait_for_more(f, true);
        } else if (rc == DT_OK) {
            rc = read_event(f, &f->ring[place], cap, err);
            if (rc == DT_OK) {
                queue_put(&f->queue);
            } else if (rc == DT_AGAIN && !f->is_scanned) {
                f->is_scanned = true;
                f->ring[place].is_end_of_scan = true;
                queue_put(&f->queue);
                rc = DT_OK;
            } else if (rc == DT_AGAIN) {
                rc = wait_for_more(f, false);
            }
        }
        if (rc != DT_OK) {
            return rc == DT_STOP ? DT_OK : rc;
        }
        if (inputs_is_stopping(f->sh->inputs)) {
            return DT_OK;
        }
    }
}

static void *
reader_main(void *arg)
{
    struct following *f = arg;
    struct error err = ERROR_INIT;
    int rc = read_all(f, &err);

    if (rc != DT_OK && rc != DT_ERR_CANCELLED) {
        lane_fail(f->sh, rc, err.text[0] ? err.text : dt_strerror(rc));
    }
    queue_close(&f->queue, rc);
    return NULL;
}

/* ---- the plugin's side ---- */

/* Shows the plugin a source that goes on: it may want no more of it. */
static int
feed_state(struct following *f, const struct place *at)
{
    struct unit u = {.input = at->input, .seq = f->seq++, .is_first = true};
    int rc, end;

    at->input->is_begun = true;
    rc = lane_begin_unit(f->lane, &u);
    if (rc == DT_OK) {
        rc = lane_feed_begin(f->lane, &u);
    }
    end = lane_end_unit(f->lane);
    f->nr_stopped += atomic_load(&at->input->is_stopped);
    return rc == DT_OK ? end : rc;
}

/* Makes room for a source that is new, and tells the client its file. */
static int
begin_source(struct following *f, const struct entry *e)
{
    struct place *places;
    bool is_new;
    int rc;

    if (e->source >= f->nr_places) {
        places = reallocarray(f->places, e->source + 1, sizeof(*places));
        if (!places) {
            return DT_ERR_NOMEM;
        }
        memset(places + f->nr_places, 0,
               (e->source + 1 - f->nr_places) * sizeof(*places));
        f->places = places;
        f->nr_places = e->source + 1;
    }
    places = &f->places[e->source];
    is_new = !places->input;
    if (is_new) {
        places->input = inputs_add_followed(f->sh->inputs, e->desc.name,
                                            e->desc.path, e->mem.data, e->len);
        places->next_line = f->sh->is_numbered ? 1 : 0;
        places->marked = e->desc.offset;
        places->marked_generation = e->desc.generation;
    }
    if (!places->input) {
        return DT_ERR_NOMEM;
    }
    rc = inputs_announce(f->sh->inputs, places->input, &e->desc);
    if (rc == DT_OK && is_new) {
        place_find_state(places, f->sh->spec);
        rc = places->input->state ? feed_state(f, places) : DT_OK;
    }
    return rc;
}

static int
feed_data(struct following *f, struct entry *e)
{
    struct place *at = e->source < f->nr_places ? &f->places[e->source] : NULL;
    struct unit u = {.data = e->mem.data,
                     .len = e->len,
                     .flags = e->flags,
                     .offset = e->offset};
    uint64_t nr;
    int rc, end;

    if (!at || !at->input) {
        return DT_ERR_INTERNAL; /* data of a source that was not told */
    }
    if (atomic_load(&at->input->is_stopped)) {
        return DT_OK;
    }
    u.input = at->input;
    u.seq = f->seq++;
    u.is_first = !at->input->is_begun;
    at->input->is_begun = true;
    nr = lane_count_run(f->lane, &u);
    lane_set_generation(f->lane, e->generation);
    rc = lane_begin_unit(f->lane, &u);
    if (rc == DT_OK) {
        rc = lane_feed_run(f->lane, &u, at->next_line, nr);
    }
    at->next_line += nr;
    end = lane_end_unit(f->lane);
    f->nr_stopped += atomic_load(&at->input->is_stopped);
    inputs_count_bytes(f->sh->inputs, e->len);
    at->generation = e->generation;
    at->offset = e->offset + e->len;
    rc = rc == DT_OK ? end : rc;
    return rc == DT_OK ? place_mark(at, f->lane, f->sh) : rc;
}

/* All that was there at the beginning has been announced: a path that the
 * client does not know at a later session is new. */
static int
tell_settled(struct following *f)
{
    const struct wire_frame progress = {
        .type = WIRE_S_PROGRESS, .query = f->sh->spec->id, .data = ""};

    return outq_push(f->sh->env->out, &progress, f->sh->cancel);
}

static int
handle(struct following *f, struct entry *e)
{
    const struct query_env *env = f->sh->env;

    if (e->is_end_of_scan) {
        return tell_settled(f);
    }
    switch (e->kind) {
    case FOLLOW_SOURCE:
        return begin_source(f, e);
    case FOLLOW_DATA:
        return feed_data(f, e);
    case FOLLOW_NOTE:
        query_note(env, f->sh->spec->id, f->sh->cancel, "%s", e->text);
        return DT_OK;
    case FOLLOW_LOG:
        if (env->log) {
            env->log(env->log_ctx, DT_LOG_INFO, e->text);
        }
        return DT_OK;
    }
    return DT_ERR_INTERNAL;
}

/* Reports what there is when an interval is over. */
static int
drain_in_time(struct following *f)
{
    int64_t now = clock_now_ms();
    int rc;

    if (f->next_drain_ms == 0 || now < f->next_drain_ms) {
        return DT_OK;
    }
    f->next_drain_ms = now + f->sh->spec->interval_ms;
    rc = lane_drain(f->lane, DT_DRAIN_INTERVAL);
    return rc == DT_OK ? lane_show(f->lane) : rc;
}

/* The next entry: DT_OK, DT_STOP at the end, DT_AGAIN: an interval is over.
 * What was given out is shown before it waits. */
static int
take(struct following *f, size_t *place)
{
    int rc = queue_take(&f->queue, 0, place);

    if (rc == DT_AGAIN) {
        rc = lane_show(f->lane);
        if (rc == DT_OK) {
            rc = queue_take(&f->queue, f->next_drain_ms ? f->next_drain_ms : -1,
                            place);
        }
    }
    return rc;
}

static bool
all_are_stopped(const struct following *f)
{
    return f->nr_stopped > 0 && f->nr_stopped == f->nr_places;
}

static int
feed_all(struct following *f)
{
    size_t place;
    int rc;

    while (!all_are_stopped(f)) {
        rc = take(f, &place);
        if (rc == DT_OK) {
            rc = handle(f, &f->ring[place]);
            queue_drop(&f->queue);
        } else if (rc == DT_STOP) {
            return f->queue.status;
        } else if (rc == DT_AGAIN) {
            rc = DT_OK;
        }
        if (rc == DT_OK) {
            rc = drain_in_time(f);
        }
        if (rc != DT_OK) {
            return rc;
        }
    }
    return DT_OK;
}

/* Ends every source at the plugin. */
static int
feed_ends(struct following *f)
{
    int rc = DT_OK;

    for (size_t i = 0; i < f->nr_places && rc == DT_OK; i++) {
        struct unit u = {.input = f->places[i].input, .seq = f->seq};
        int end;

        if (!u.input) {
            continue;
        }
        u.is_first = !u.input->is_begun;
        f->seq++;
        rc = lane_begin_unit(f->lane, &u);
        if (rc == DT_OK) {
            rc = lane_feed_last(f->lane, &u);
        }
        end = lane_end_unit(f->lane);
        rc = rc == DT_OK ? end : rc;
    }
    return rc;
}

/* ---- beginning and end ---- */

/* Copies those that are no journals. */
static int
only_files(const struct strv *all, struct strv *files)
{
    int rc = DT_OK;

    for (size_t i = 0; i < all->nr && rc == DT_OK; i++) {
        rc = journal_is_target(all->v[i]) ? DT_OK : strv_add(files, all->v[i]);
    }
    return rc;
}

static int
open_follow(struct following *f, struct error *err)
{
    const struct query_spec *spec = f->sh->spec;
    const struct config_server *config = &f->sh->env->config->server;
    struct follow_resume *resume = calloc(spec->nr_resume + 1, sizeof(*resume));
    int rc;

    if (!resume) {
        return DT_ERR_NOMEM;
    }
    for (size_t i = 0; i < spec->nr_resume; i++) {
        const struct source_desc *d = &spec->resume[i];

        resume[i] = (struct follow_resume){
            .path = d->path,
            .dev = d->dev,
            .ino = d->ino,
            .fingerprint = d->fingerprint ? d->fingerprint : "",
            .offset = d->offset};
    }
    struct strv files = {0};
    struct follow_args args = {
        .patterns = &spec->files,
        .permission = f->sh->env->permission,
        .watch = f->sh->env->watch,
        .refuse_output = f->sh->env->is_serverless,
        .max_targets = (size_t)config->max_glob_targets,
        .max_line = (size_t)config->max_line_length,
        .from_start = spec->from_start,
        .last_lines = (uint64_t)spec->last_lines,
        .max_held_bytes = (uint64_t)config->follow_held_mib << 20,
        .resume = resume,
        .nr_resume = spec->nr_resume,
        .expand_ms = config->read_glob_retry_interval_ms};
    rc = follow_journal_new(&args, config->journal_dir, &f->journals, err);
    rc = rc ? rc : only_files(&spec->files, &files);
    f->polls =
        calloc(NR_POLLS + follow_journal_count(f->journals), sizeof(*f->polls));
    rc = rc || f->polls ? rc : DT_ERR_NOMEM;
    if (rc == DT_OK && (files.nr > 0 || !f->journals)) {
        args.patterns = &files;
        rc = follow_new(&args, &f->follow, err);
    }
    strv_fini(&files);
    free(resume);
    return rc;
}

static int
run_threads(struct following *f)
{
    pthread_t reader;
    int rc;

    if (f->sh->spec->interval_ms > 0) {
        /* clients report half an interval behind: spec mapreduce 16.1 */
        f->next_drain_ms = clock_now_ms() + f->sh->spec->interval_ms;
    }
    if (pthread_create(&reader, NULL, reader_main, f) != 0) {
        return lane_fail(f->sh, DT_ERR_LIMIT, "cannot start a thread");
    }
    rc = feed_all(f);
    if (rc == DT_OK) {
        rc = feed_ends(f);
    }
    queue_abandon(&f->queue);
    inputs_stop(f->sh->inputs); /* wakes the reader */
    pthread_join(reader, NULL);
    return rc;
}

int
following_run(struct lane *l, struct lane_shared *shared)
{
    struct following *f = calloc(1, sizeof(*f));
    struct error err = ERROR_INIT;
    int rc;

    if (!f || queue_init(&f->queue, QUEUE_LEN) != DT_OK) {
        free(f);
        return DT_ERR_NOMEM;
    }
    f->sh = shared;
    f->lane = l;
    rc = open_follow(f, &err);
    if (rc == DT_OK) {
        rc = run_threads(f);
    }
    if (rc != DT_OK && rc != DT_ERR_CANCELLED) {
        lane_fail(shared, rc, err.text[0] ? err.text : dt_strerror(rc));
    }
    for (size_t i = 0; i < QUEUE_LEN; i++) {
        source_desc_fini(&f->ring[i].desc);
        buf_fini(&f->ring[i].mem);
    }
    free(f->places);
    follow_free(f->follow);
    follow_journal_free(f->journals);
    free(f->polls);
    queue_fini(&f->queue);
    free(f);
    return rc;
}
