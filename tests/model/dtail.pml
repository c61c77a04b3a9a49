/* SPDX-License-Identifier: Apache-2.0
 *
 * Model of listener, session, worker and coordinator: one session with NQ
 * queries, a rival session that wants the same read slot, a client that may
 * cancel or vanish, a worker that may crash, and SIGTERM, each at any moment
 * or never. What is proved stands at the end; README.md says how.
 *
 * STEP(FROM, TO) is the only way to change the state of a query.
 * core/test-coordinator.c reads these lines and compares them with
 * core/coordinator.c.
 *
 * SEED builds in a fault on purpose: run.sh shows that it is found.
 */
#ifndef NQ
#define NQ 2 /* queries of the session */
#endif
#ifndef SEED
#define SEED 0
#endif
#ifndef NEVENTS
#define NEVENTS 2
#endif
#define RIVAL NQ /* who the other session is to the broker */

mtype = {
    QUERY, CANCEL, BYE,     /* client to worker */
    DATA, END,              /* worker to client */
    TAKE, GIVE              /* worker to listener */
};
mtype:state = { NEW, RUNNING, FINISHING, DRAINING, DONE, CANCELLED, FAILED };

/* Sockets and queues. Small, so that each of them is full now and then. */
chan request = [1] of { mtype, byte };       /* client to worker */
chan out = [1] of { mtype, byte };           /* worker to session */
chan kept = [NQ] of { byte };                /* ENDs that wait for room */
chan wire = [1] of { mtype, byte };          /* session to client */
chan broker = [2] of { mtype, byte };        /* to the listener */
chan waiting = [NQ + 1] of { byte };         /* for a slot, in order */

/* What each end of a connection can see of the other. */
bit client_gone;    /* the connection is closed at the client's end */
bit session_closed; /* the session has closed its socket to the worker */
bit worker_started;
bit worker_exited;
bit worker_crashed;
bit ended_told;     /* the listener has told the session how it ended */
bit wire_closed;    /* the channel was closed behind the last byte */
bit crash_told;     /* and the client was told of the crash */
bit server_stops;   /* no worker: the client is told that the server stops */

/* What may happen. */
bit vanish;
bit term;
bit drain;          /* the worker knows of SIGTERM */
bit wish[NQ];       /* the user wants to cancel */
bit grace_over;

/* Queries. */
mtype:state state[NQ] = NEW;
bit started[NQ];
bit follow[NQ];
bit cancel[NQ];
byte finished[NQ];
byte ended[NQ];     /* ENDs posted */
bit seen_end[NQ];   /* by the client */

/* Slots. */
byte slots = 1;
bit held[NQ + 1];
#ifdef WITH_RIVAL
bit rival_done;
#endif

#define STEP(from, to) d_step { assert(state[q] == from); state[q] = to }

/* For each query of the session. */
#define IS_OVER(i) (!started[i] || state[i] == DONE)
#if NQ > 1
#define ALL_OVER (IS_OVER(0) && IS_OVER(1))
#define ALL_SEEN (seen_end[0] && seen_end[1])
#define ANY_FOLLOWS (follow[0] || follow[1])
#define SET_ALL(array) array[0] = 1; array[1] = 1
#else
#define ALL_OVER IS_OVER(0)
#define ALL_SEEN seen_end[0]
#define ANY_FOLLOWS follow[0]
#define SET_ALL(array) array[0] = 1
#endif

/* Why a query leaves every wait: cancelled, or the reader is gone. */
#define HURRY (cancel[q] || session_closed)

/* Waits for room in the output. */
inline emit(what)
{
    if
    :: atomic { nfull(out) && empty(kept) && !session_closed ->
        out!DATA(q); what = 0 }
#if SEED != 4
    :: HURRY -> goto cancelled
#endif
    fi
}

/* END takes the way of the data, behind them, and never waits. */
inline post_end(who)
{
    ended[who]++;
    assert(ended[who] == 1);
    kept!who
}

/* One query of the worker: coordinator, source and plugin instance. */
proctype Query(byte q)
{
    bit has_slot;
    bit blocks = 1;    /* the source has one more */
    bit held_back = 1; /* for drain to give out */

    {
    /* start: arguments, permission, plugin */
    if
    :: atomic { cancel[q] -> STEP(NEW, CANCELLED); goto over }
#ifndef LEAN
    :: atomic { STEP(NEW, FAILED); goto over }
#endif
    :: STEP(NEW, RUNNING)
    fi;

    /* sources: none, one that takes a slot, or one that is followed */
    if
    :: goto exhausted
    :: follow[q]
    :: atomic { !follow[q] && nfull(broker) -> broker!TAKE(q); has_slot = 1 };
        if
        :: held[q]
        :: HURRY -> goto cancelled
        fi
    fi;
    do
    :: HURRY -> goto cancelled
    :: blocks -> emit(blocks)
#ifndef LEAN
    :: atomic { STEP(RUNNING, FAILED); goto over }
#endif
    :: !follow[q] || drain -> break /* the end of the input */
    :: break /* DT_STOP */
    od;
exhausted:
    atomic {
        STEP(RUNNING, FINISHING);
        if
        :: has_slot -> broker!GIVE(q); has_slot = 0
        :: !has_slot
        fi
    };
#if SEED == 1
    /* The Go server's deadlock: finish waits for a count of running queries
     * that holds the waiting query itself. */
    ALL_OVER;
#endif
    if
    :: HURRY -> goto cancelled
#ifndef LEAN
    :: atomic { STEP(FINISHING, FAILED); goto over }
#endif
    :: atomic {
        finished[q]++;
        assert(finished[q] == 1);
        STEP(FINISHING, DRAINING)
       }
    fi;
#if SEED == 3
    finished[q]++;
#endif
#if SEED == 2
    post_end(q);
#endif
    do
    :: HURRY -> goto cancelled
#ifndef LEAN
    :: held_back -> assert(finished[q] == 1); emit(held_back)
#if SEED == 6
       ; held_back = 1 /* a plugin whose drain never ends */
#endif
    :: atomic { STEP(DRAINING, FAILED); goto over }
#endif
    :: break
    od;
    atomic {
#if SEED != 2
        post_end(q);
#endif
        STEP(DRAINING, DONE);
        goto gone
    };

cancelled:
    atomic {
        if
        :: state[q] == RUNNING -> STEP(RUNNING, CANCELLED)
        :: state[q] == FINISHING -> STEP(FINISHING, CANCELLED)
        :: state[q] == DRAINING -> STEP(DRAINING, CANCELLED)
        fi
    };
over:
    atomic {
        if
        :: has_slot -> broker!GIVE(q); has_slot = 0
        :: !has_slot
        fi;
        post_end(q);
        if
        :: state[q] == CANCELLED -> STEP(CANCELLED, DONE)
        :: state[q] == FAILED -> STEP(FAILED, DONE)
        fi
    };
gone:
    skip
    } unless { worker_crashed }
}

/* The worker's own loop: requests, and the output that was kept back. */
proctype Worker()
{
    byte q;
    bit bye;

    {
    do
    :: atomic { nempty(kept) && (nfull(out) || session_closed) ->
        kept?q;
        if
        :: session_closed
        :: else -> out!END(q)
        fi
       }
    :: atomic { request?QUERY(q) ->
        started[q] = 1;
        if
        :: drain -> /* refused with an END of its own */
            STEP(NEW, FAILED);
            post_end(q);
            STEP(FAILED, DONE)
        :: !drain -> run Query(q)
        fi }
    :: atomic { request?CANCEL(q) -> cancel[q] = 1 }
    :: atomic { request?BYE(_) -> bye = 1 }
    :: atomic { session_closed && !bye -> bye = 1; SET_ALL(cancel) }
    :: atomic { drain && grace_over -> grace_over = 0; SET_ALL(cancel) }
    :: atomic { (bye || drain) && empty(request) && empty(kept) && ALL_OVER ->
        worker_exited = 1; break }
    od
    } unless { worker_crashed }
}

/* The session: copies bytes both ways and parses nothing. */
active proctype Session()
{
    mtype m;
    byte q;

    /* after authentication: a worker, or the server is stopping */
    if
    :: worker_started
    :: server_stops -> atomic { wire_closed = 1; goto leave }
    :: client_gone -> goto leave
    fi;
    do
    :: atomic { nempty(request) && (worker_exited || worker_crashed) ->
        request?m(q) } /* nobody reads them any more */
    :: atomic { nempty(out) && nfull(wire) -> out?m(q); wire!m(q) }
    :: client_gone -> break
    :: ended_told && empty(out) ->
        atomic { crash_told = worker_crashed; wire_closed = 1 };
        break
    od;
leave:
    session_closed = 1
}

active proctype Client()
{
    byte q, sent;

    do
    :: vanish -> break
    :: atomic { sent < NQ && nfull(request) && !wire_closed ->
        if
#ifndef LEAN
        :: follow[sent] = 1
#endif
        :: skip
        fi;
        request!QUERY(sent);
        sent++ }
    :: atomic { sent == NQ && nfull(request) && !wire_closed && wish[0] ->
        wish[0] = 0; request!CANCEL(0) }
#if NQ > 1
    :: atomic { sent == NQ && nfull(request) && !wire_closed && wish[1] ->
        wish[1] = 0; request!CANCEL(1) }
#endif
    :: atomic { wire?DATA(q) -> assert(!seen_end[q]) }
    :: atomic { wire?END(q) -> assert(!seen_end[q]); seen_end[q] = 1 }
    :: atomic { sent == NQ && nfull(request) && !wire_closed && ALL_SEEN ->
        request!BYE(0); sent++ }
    :: wire_closed && empty(wire) ->
        /* every query ended here, or the client knows why not */
        assert(crash_told || server_stops || drain || ALL_SEEN);
        break
    od;
    client_gone = 1
}

#ifdef WITH_RIVAL
/* Takes the same slot as the queries; it must get it. */
active proctype Rival()
{
    broker!TAKE(RIVAL);
    held[RIVAL];
    atomic { broker!GIVE(RIVAL); rival_done = 1 }
}
#else
#define rival_done 1
#endif

active proctype Listener()
{
    byte who, i;

    do
    :: atomic { !worker_started && !server_stops && !session_closed ->
        if
        :: term -> server_stops = 1
        :: !term -> worker_started = 1; run Worker()
        fi }
    :: atomic { broker?TAKE(who) -> waiting!who }
    :: atomic { broker?GIVE(who) ->
        if
        :: held[who] -> held[who] = 0; slots++
        :: !held[who] -> waiting??eval(who)
        fi }
    :: atomic { slots > 0 && nempty(waiting) ->
        waiting?who; held[who] = 1; slots-- }
    :: atomic { (worker_exited || worker_crashed) && empty(broker) &&
        !ended_told ->
#if SEED != 5
            i = 0;
            do
            :: i < NQ ->
                if
                :: held[i] -> held[i] = 0; slots++
                :: else
                fi;
                if
                :: waiting??[eval(i)] -> waiting??eval(i)
                :: !(waiting??[eval(i)])
                fi;
                i++
            :: else -> break
            od;
            i = 0;
#endif
            ended_told = 1 }
    :: term && worker_started && !drain -> drain = 1
    /* Without SIGTERM the listener stays; here it ends with its children. */
    :: session_closed && rival_done && empty(broker) &&
        (ended_told || !worker_started) -> break
    od
}

#define WORKER_RUNS (worker_started && !worker_exited && !worker_crashed)

/* One event, at any moment. */
inline event()
{
    if
    :: atomic { WORKER_RUNS -> worker_crashed = 1 }
    :: atomic { !vanish -> vanish = 1 }
    :: atomic { !term -> term = 1 }
    :: atomic { drain && !grace_over -> grace_over = 1 }
    :: atomic { !client_gone -> SET_ALL(wish) }
    :: skip
    fi
}

/* NEVENTS events; a query that follows is ended by one of them at last. */
active proctype Chance()
{
#if NEVENTS > 0
    event();
#endif
#if NEVENTS > 1
    event();
#endif
    if
    :: !ANY_FOLLOWS || vanish || term || worker_crashed || client_gone
    :: vanish = 1
    :: term = 1
    fi
}

/* Every query that was started reaches DONE, unless its worker died. */
#define ENDS(i) (state[i] == DONE || worker_crashed)
ltl query_ends { [] ((started[0] -> <> ENDS(0))
#if NQ > 1
    && (started[1] -> <> ENDS(1))
#endif
    ) }
/* Whoever waits is served: the client, the rival; the session ends. */
ltl all_end { <> client_gone && <> rival_done && <> session_closed }
