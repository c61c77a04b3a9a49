/* SPDX-License-Identifier: Apache-2.0
 *
 * Following growing files: targets, events, timers, and whose turn it is.
 */
#include "follow.h"

#include "cleanup.h"
#include "fileglob.h"
#include "follow-source.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>

#define POLL_MS 100       /* files without events */
#define RECONCILE_MS 1000 /* all files */
#define EXPAND_MIN_MS 200 /* between two expansions that events asked for */
#define EXPAND_MS 5000
#define REST_MS 1000
#define LATE_MS 60000
#define CALLS_PER_LOOK 8u /* while there is always something to give out */
#define BUFFER_MIN (64u * 1024u)
#define MAX_PATTERNS 10000u

int64_t
follow_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

int64_t
follow_clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME_COARSE, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

size_t
follow_min_cap(size_t max_line)
{
    size_t cap = max_line + 8; /* a newline, a byte order mark */

    return cap > BUFFER_MIN ? cap : BUFFER_MIN;
}

void
follow_say(struct follow *f, enum follow_kind kind, const char *format, ...)
{
    char text[ERROR_TEXT_MAX];
    struct follow_text *t;
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    t = malloc(sizeof(*t) + strlen(text) + 1);
    if (!t) {
        return;
    }
    t->kind = kind;
    t->next = NULL;
    strcpy(t->text, text);
    *f->texts_end = t;
    f->texts_end = &t->next;
}

/* ---- beginning and end ---- */

static int
copy_patterns(struct follow *f, const struct strv *patterns, struct error *err)
{
    if (patterns->nr == 0) {
        return error_set(err, DT_ERR_INVAL, "no file to follow");
    }
    if (patterns->nr > MAX_PATTERNS) {
        return error_set(err, DT_ERR_LIMIT, "more than %u file arguments",
                         MAX_PATTERNS);
    }
    f->pattern_dirs = calloc(patterns->nr, sizeof(struct follow_dir *));
    f->pattern_failed = calloc(patterns->nr, sizeof(bool));
    if (!f->pattern_dirs || !f->pattern_failed) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < patterns->nr; i++) {
        struct source_targets t;
        int status = source_expand(patterns->v[i], false, 0, &t, err);

        if (status != DT_OK) {
            return status;
        }
        source_targets_fini(&t);
        if (strv_add(&f->patterns, patterns->v[i]) != DT_OK) {
            return error_set(err, DT_ERR_NOMEM, "out of memory");
        }
    }
    return DT_OK;
}

static int
copy_resume(struct follow *f, const struct follow_args *args, struct error *err)
{
    f->args.nr_resume = 0;
    f->args.resume = NULL;
    if (args->nr_resume == 0) {
        return DT_OK;
    }
    f->resume = calloc(args->nr_resume, sizeof(*f->resume));
    for (size_t i = 0; f->resume && i < args->nr_resume; i++) {
        struct follow_resume *r = &f->resume[i];

        *r = args->resume[i];
        r->path = fileglob_clean(r->path);
        r->fingerprint = strdup(r->fingerprint ? r->fingerprint : "");
        f->args.nr_resume++;
        if (!r->path || !r->fingerprint) {
            return error_set(err, DT_ERR_NOMEM, "out of memory");
        }
    }
    return f->resume ? DT_OK : error_set(err, DT_ERR_NOMEM, "out of memory");
}

static int
open_descriptors(struct follow *f, struct error *err)
{
    struct epoll_event event = {.events = EPOLLIN};
    char why[160];

    f->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    f->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (f->epoll_fd < 0 || f->timer_fd < 0 ||
        epoll_ctl(f->epoll_fd, EPOLL_CTL_ADD, f->timer_fd, &event) < 0) {
        return error_errno(err, errno, "cannot follow files");
    }
    follow_events_init(&f->events, f->args.watch, f->args.no_events, why,
                       sizeof(why));
    if (f->events.watch && watch_poll(f->events.watch, f->epoll_fd) < 0) {
        return error_errno(err, errno, "cannot follow files");
    }
    if (*why) {
        follow_say(f, FOLLOW_NOTE,
                   "%s: files are looked at ten times a second "
                   "instead",
                   why);
    }
    return DT_OK;
}

int
follow_new(const struct follow_args *args, struct follow **out,
           struct error *err)
{
    struct follow *f = calloc(1, sizeof(*f));
    int status;

    if (!f) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    f->args = *args;
    f->args.patterns = NULL;
    f->args.max_line = args->max_line ? args->max_line : 1u << 20;
    f->args.expand_ms = args->expand_ms ? args->expand_ms : EXPAND_MS;
    f->args.rest_ms = args->rest_ms ? args->rest_ms : REST_MS;
    f->args.late_ms = args->late_ms ? args->late_ms : LATE_MS;
    f->texts_end = &f->texts;
    f->epoll_fd = f->timer_fd = -1;
    status = copy_resume(f, args, err);
    if (status == DT_OK) {
        status = copy_patterns(f, args->patterns, err);
    }
    if (status == DT_OK) {
        status = open_descriptors(f, err);
    }
    if (status != DT_OK) {
        follow_free(f);
        return status;
    }
    *out = f;
    return DT_OK;
}

static void
free_texts(struct follow_text *t)
{
    while (t) {
        struct follow_text *next = t->next;

        free(t);
        t = next;
    }
}

void
follow_free(struct follow *f)
{
    if (!f) {
        return;
    }
    for (size_t i = 0; i < f->nr_sources; i++) {
        follow_source_free(f, f->sources[i]);
    }
    for (size_t i = 0; i < f->patterns.nr; i++) {
        follow_dir_unref(&f->events, f->pattern_dirs[i]);
    }
    for (size_t i = 0; i < f->args.nr_resume; i++) {
        free((char *)f->resume[i].path);
        free((char *)f->resume[i].fingerprint);
    }
    follow_events_fini(&f->events);
    if (f->timer_fd >= 0) {
        close(f->timer_fd);
    }
    if (f->epoll_fd >= 0) {
        close(f->epoll_fd);
    }
    free_texts(f->texts);
    free(f->shown);
    free(f->resume);
    free(f->sources);
    free(f->pattern_dirs);
    free(f->pattern_failed);
    strv_fini(&f->patterns);
    free(f);
}

int
follow_fd(const struct follow *f)
{
    return f->epoll_fd;
}

size_t
follow_nr_sources(const struct follow *f)
{
    return f->nr_sources;
}

/* ---- targets ---- */

static bool
has_source(const struct follow *f, const char *path)
{
    for (size_t i = 0; i < f->nr_sources; i++) {
        if (!strcmp(f->sources[i]->path, path)) {
            return true;
        }
    }
    return false;
}

static int
add_source(struct follow *f, const struct source_target *t)
{
    struct follow_source **v;
    struct follow_source *s;

    if (has_source(f, t->path)) {
        return DT_OK;
    }
    if (f->nr_sources >= f->args.max_targets) {
        if (!f->told_limit) {
            follow_say(f, FOLLOW_NOTE,
                       "More files than can be followed, further ones are left "
                       "out|limit|%zu|%s",
                       f->args.max_targets, t->path);
        }
        f->told_limit = true;
        return DT_OK;
    }
    v = reallocarray(f->sources, f->nr_sources + 1, sizeof(*v));
    if (!v) {
        return DT_ERR_NOMEM;
    }
    f->sources = v;
    s = follow_source_new(f, t);
    if (!s) {
        return DT_ERR_NOMEM;
    }
    f->sources[f->nr_sources++] = s;
    return DT_OK;
}

/* Looks into the folder itself too, for files that are not there yet. */
static void
watch_pattern(struct follow *f, size_t i)
{
    CLEANUP_FREE char *clean = fileglob_clean(f->patterns.v[i]);
    char *slash;

    if (!clean) {
        return;
    }
    slash = strrchr(clean, '/');
    if (slash) {
        slash[slash == clean] = '\0';
    }
    if (!slash || !fileglob_has_meta(clean)) {
        f->pattern_dirs[i] = follow_dir_ref(&f->events, slash ? clean : ".");
    }
}

static int
expand_one(struct follow *f, size_t i, struct error *err)
{
    const char *pattern = f->patterns.v[i];
    struct source_targets t;
    int status;

    if (f->pattern_dirs[i]) {
        follow_dir_refresh(&f->events, f->pattern_dirs[i]);
    } else {
        watch_pattern(f, i);
    }
    status = source_expand(pattern, false, f->args.max_targets, &t, err);
    if (status != DT_OK) {
        return status == DT_ERR_NOMEM ? status : DT_OK;
    }
    if (t.matched > t.nr && !f->told_limit) {
        f->told_limit = true;
        follow_say(f, FOLLOW_NOTE,
                   "Glob expansion exceeded server limit, only first targets "
                   "served|limit|%zu|matched|%zu",
                   f->args.max_targets, t.matched);
    }
    if (t.nr == 0 && !f->pattern_failed[i]) {
        follow_say(f, FOLLOW_LOG, "No such file(s) to read|%s", pattern);
        follow_say(f, FOLLOW_NOTE,
                   "Unable to read file(s), check server logs|%s|%s", pattern,
                   fileglob_has_meta(pattern)
                       ? "no file of this host matches yet"
                       : "no such file yet, waiting for it");
    }
    f->pattern_failed[i] = t.nr == 0;
    for (size_t j = 0; status == DT_OK && j < t.nr; j++) {
        status = add_source(f, &t.v[j]);
    }
    source_targets_fini(&t);
    return status;
}

static int
expand(struct follow *f, struct error *err)
{
    int status = DT_OK;

    f->expand_is_due = false;
    f->expanded_ms = follow_now_ms();
    for (size_t i = 0; status == DT_OK && i < f->patterns.nr; i++) {
        status = expand_one(f, i, err);
    }
    return status == DT_ERR_NOMEM ? error_set(err, status, "out of memory")
                                  : status;
}

static void
remove_dead(struct follow *f)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->nr_sources; i++) {
        struct follow_source *s = f->sources[i];

        if (s->is_dead && !s->first && !s->late) {
            follow_source_free(f, s);
        } else {
            f->sources[kept++] = s;
        }
    }
    f->nr_sources = kept;
}

/* ---- events and timers ---- */

static void
on_hit(void *ctx, struct follow_file *file, struct follow_dir *d,
       const char *name)
{
    struct follow *f = ctx;
    bool is_known = false;

    if (file) {
        file->source->is_dirty = file->source->needs_check = true;
        return;
    }
    for (size_t i = 0; i < f->nr_sources; i++) {
        struct follow_source *s = f->sources[i];

        if (!d || (s->dir == d && (!name || !strcmp(s->base, name)))) {
            s->is_dirty = s->needs_check = true;
            is_known = true;
        }
    }
    f->expand_is_due |= !is_known || !name;
}

static void
set_timer(struct follow *f)
{
    int64_t ms = RECONCILE_MS;

    for (size_t i = 0; i < f->nr_sources && ms != POLL_MS; i++) {
        for (const struct follow_file *file = f->sources[i]->first; file;
             file = file->next) {
            ms = file->is_polled ? POLL_MS : ms;
        }
    }
    ms = f->expand_is_due || !f->events.watch ? POLL_MS : ms;
    ms = f->is_busy ? 1 : ms;
    if (ms != f->tick_ms) {
        struct timespec t = {ms / 1000, ms % 1000 * 1000000};

        timerfd_settime(f->timer_fd, 0, &(struct itimerspec){t, t}, NULL);
        f->tick_ms = ms;
    }
}

static int
on_tick(struct follow *f, struct error *err)
{
    int64_t now = follow_now_ms();
    bool is_due = now - f->reconciled_ms >= RECONCILE_MS;

    f->reconciled_ms = is_due ? now : f->reconciled_ms;
    for (size_t i = 0; i < f->nr_sources; i++) {
        struct follow_source *s = f->sources[i];
        bool is_polled = !f->events.watch || (s->first && s->first->is_polled);

        /* what is due, follow_source_check finds: it is most of the cost of
         * files that nobody writes to */
        s->is_dirty |= is_polled || f->is_busy;
        s->needs_check |= is_due || is_polled;
    }
    f->is_busy = false;
    remove_dead(f);
    if (now - f->expanded_ms >= f->args.expand_ms ||
        (f->expand_is_due && now - f->expanded_ms >= EXPAND_MIN_MS)) {
        return expand(f, err);
    }
    return DT_OK;
}

/* Takes notice of events and timer. */
static int
look(struct follow *f, struct error *err)
{
    uint64_t ticks;
    int status = DT_OK;

    if (!f->is_started) {
        int64_t now_ns = follow_clock_ns();

        status = expand(f, err);
        f->began_ns = now_ns;
        f->is_started = true;
        f->reconciled_ms = follow_now_ms();
    }
    follow_events_take(&f->events, on_hit, f);
    if (status == DT_OK &&
        read(f->timer_fd, &ticks, sizeof(ticks)) == sizeof(ticks)) {
        status = on_tick(f, err);
    }
    if (status == DT_OK && f->expand_is_due &&
        follow_now_ms() - f->expanded_ms >= EXPAND_MIN_MS) {
        status = expand(f, err);
    }
    return status;
}

int
follow_watch(struct follow *f, struct error *err)
{
    int status = look(f, err);

    for (size_t i = 0; status == DT_OK && i < f->nr_sources; i++) {
        struct follow_source *s = f->sources[i];

        if (s->needs_check) {
            follow_source_check(f, s);
            follow_source_trim(f, s);
        }
    }
    set_timer(f);
    return status;
}

int
follow_reconcile(struct follow *f, struct error *err)
{
    int status = look(f, err);

    if (status == DT_OK) {
        status = expand(f, err);
    }
    for (size_t i = 0; i < f->nr_sources; i++) {
        f->sources[i]->is_dirty = f->sources[i]->needs_check = true;
    }
    return status == DT_OK ? follow_watch(f, err) : status;
}

/* ---- giving out ---- */

static bool
give_text(struct follow *f, struct follow_event *ev)
{
    struct follow_text *t = f->texts;

    if (!t) {
        return false;
    }
    f->texts = t->next;
    if (!f->texts) {
        f->texts_end = &f->texts;
    }
    free(f->shown);
    f->shown = t;
    *ev = (struct follow_event){.kind = t->kind, .text = t->text};
    return true;
}

/* One round over the sources. DT_OK: an event; DT_STOP: all are at rest;
 * DT_AGAIN: another round. */
static int
give_turn(struct follow *f, char *buffer, size_t cap, struct follow_event *ev)
{
    int answer = DT_STOP;

    for (size_t i = 0; i < f->nr_sources; i++) {
        struct follow_source *s = f->sources[(f->turn + i) % f->nr_sources];
        int status;

        if (s->needs_check) {
            follow_source_check(f, s);
        }
        status =
            s->is_dirty ? follow_source_step(f, s, buffer, cap, ev) : DT_STOP;
        if (status == DT_OK) {
            f->turn = (f->turn + i + 1) % f->nr_sources;
            return DT_OK;
        }
        answer = status == DT_AGAIN ? DT_AGAIN : answer;
    }
    return answer;
}

int
follow_next(struct follow *f, char *buffer, size_t cap, struct follow_event *ev,
            struct error *err)
{
    int status = DT_OK;
    bool has_looked = false;

    if (cap < follow_min_cap(f->args.max_line)) {
        return error_set(err, DT_ERR_INVAL,
                         "buffer of %zu bytes to follow with, %zu are needed",
                         cap, follow_min_cap(f->args.max_line));
    }
    if (f->nr_calls++ % CALLS_PER_LOOK == 0) {
        status = look(f, err);
    }
    while (status == DT_OK) {
        int turn;

        if (give_text(f, ev)) {
            return DT_OK;
        }
        turn = give_turn(f, buffer, cap, ev);
        if (turn == DT_OK) {
            return DT_OK;
        }
        if (turn == DT_AGAIN && (!f->is_busy || f->texts)) {
            has_looked = false;
            continue;
        }
        if (has_looked || f->is_busy) {
            set_timer(f);
            return DT_AGAIN;
        }
        has_looked = true;
        status = look(f, err);
    }
    return status;
}
