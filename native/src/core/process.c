// SPDX-License-Identifier: GPL-3.0-or-later
//
// A pair of connected sockets serves as both pipes: unlike a pipe, writing to one whose other end is gone
// raises no signal when it is told so, and the host's signals stay as they are.

// for descriptors that no other thread's child can inherit
#define _GNU_SOURCE

#include "core/process.h"

#include "core/alloc.h"
#include "core/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_CAPACITY ((size_t)1 << 16)
#define POLL_MILLISECONDS 20
#define MOST_ARGUMENTS 14

// our side of a program that runs
typedef struct Child {
    pid_t id;
    int socket;
    size_t written;
    bool isGone; // reaped, by us or by the host
    bool isAtEnd;
    int status;
} Child;

static int makeSockets(int sockets[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
        return errno;
    }
    // the child's end must lie above the three that are put over the standard ones
    int high = fcntl(sockets[1], F_DUPFD_CLOEXEC, 3);
    int code = high < 0 ? errno : 0;
    close(sockets[1]);
    sockets[1] = high;
    if (code == 0 && fcntl(sockets[0], F_SETFL, O_NONBLOCK) != 0) {
        code = errno;
    }
    if (code != 0) {
        close(sockets[0]);
        if (high >= 0) {
            close(high);
        }
    }
    return code;
}

// a group of its own, so that the terminal's interrupts go past it and all that it starts can be ended with
// it
static int prepareAttributes(posix_spawnattr_t* attributes) {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    int code = posix_spawnattr_setsigmask(attributes, &none);
    code = code != 0 ? code : posix_spawnattr_setsigdefault(attributes, &all);
    code = code != 0 ? code : posix_spawnattr_setpgroup(attributes, 0);
    return code != 0 ? code
                     : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                                POSIX_SPAWN_SETPGROUP);
}

static int prepareDescriptors(posix_spawn_file_actions_t* actions, int socket) {
    int code = posix_spawn_file_actions_adddup2(actions, socket, STDIN_FILENO);
    code = code != 0 ? code : posix_spawn_file_actions_adddup2(actions, socket, STDOUT_FILENO);
    return code != 0 ? code
                     : posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
}

static int spawn(const srProcessOrder* order, int socket, pid_t* outId) {
    char* arguments[MOST_ARGUMENTS + 2] = {(char*)order->program};
    for (int i = 0; i < MOST_ARGUMENTS && order->arguments != NULL && order->arguments[i] != NULL; i++) {
        arguments[i + 1] = (char*)order->arguments[i];
    }
    char* nothing[] = {NULL};
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int code = posix_spawnattr_init(&attributes);
    if (code != 0) {
        return code;
    }
    code = posix_spawn_file_actions_init(&actions);
    if (code == 0) {
        code = prepareAttributes(&attributes);
        code = code != 0 ? code : prepareDescriptors(&actions, socket);
        code =
            code != 0 ? code : posix_spawn(outId, order->program, &actions, &attributes, arguments, nothing);
        posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attributes);
    return code;
}

static int start(const srProcessOrder* order, Child* child) {
    int sockets[2];
    int code = makeSockets(sockets);
    if (code != 0) {
        return code;
    }
    code = spawn(order, sockets[1], &child->id);
    close(sockets[1]);
    if (code != 0) {
        close(sockets[0]);
        return code;
    }
    child->socket = sockets[0];
    return 0;
}

// Looks whether it has ended. A host that reaps all children itself, or wants none of them kept, leaves us
// without a status: then what was written must speak for itself.
static void look(Child* child, int flags) {
    while (!child->isGone) {
        pid_t found = waitpid(child->id, &child->status, flags);
        if (found == 0) {
            return;
        }
        if (found < 0 && errno == EINTR) {
            continue;
        }
        child->isGone = true;
        child->status = found < 0 ? 0 : child->status;
    }
}

static void end(Child* child) {
    look(child, WNOHANG);
    if (!child->isGone) {
        kill(-child->id, SIGKILL);
        kill(child->id, SIGKILL);
        look(child, 0);
    }
}

static void writeSome(const srProcessOrder* order, Child* child) {
    while (child->written < order->inputSize) {
        const uint8_t* from = (const uint8_t*)order->input + child->written;
        ssize_t count = send(child->socket, from, order->inputSize - child->written, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return;
        }
        // one that does not listen may still have something to say
        child->written = count < 0 ? order->inputSize : child->written + (size_t)count;
    }
    shutdown(child->socket, SHUT_WR);
}

static bool grow(srProcessAnswer* answer, size_t most) {
    // a byte more than is allowed tells a flood from an answer that just fits
    size_t room = most + 1;
    if (answer->byteCount < answer->capacity || answer->capacity >= room) {
        return true;
    }
    size_t wanted = answer->capacity == 0 ? FIRST_CAPACITY : 2 * answer->capacity;
    wanted = wanted < room ? wanted : room;
    uint8_t* larger = srRealloc(answer->bytes, answer->capacity, wanted, 1);
    if (larger == NULL) {
        return false;
    }
    answer->bytes = larger;
    answer->capacity = wanted;
    return true;
}

static srResult readSome(const srProcessOrder* order, Child* child, srProcessAnswer* answer) {
    while (!child->isAtEnd && answer->byteCount <= order->mostOutput) {
        if (!grow(answer, order->mostOutput)) {
            return srFailOutOfMemory("the answer of a program");
        }
        ssize_t count =
            recv(child->socket, answer->bytes + answer->byteCount, answer->capacity - answer->byteCount, 0);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return sr_success;
        }
        child->isAtEnd = count <= 0;
        answer->byteCount += count > 0 ? (size_t)count : 0;
    }
    return sr_success;
}

static void waitSome(const srProcessOrder* order, const Child* child) {
    bool writes = child->written < order->inputSize;
    short wanted = (short)((writes ? POLLOUT : 0) | (child->isAtEnd ? 0 : POLLIN));
    struct pollfd entry = {child->socket, wanted, 0};
    // an end that is closed would be reported again and again
    poll(&entry, child->isAtEnd ? 0 : 1, child->isAtEnd ? 1 : POLL_MILLISECONDS);
}

// Until it has ended or has to be.
static srResult attend(const srProcessOrder* order, Child* child, srProcessAnswer* answer) {
    double begin = srGetSeconds();
    for (;;) {
        // looked at before its words are read: so nothing that it said is missed
        look(child, WNOHANG);
        bool wasGone = child->isGone;
        if (child->written < order->inputSize) {
            writeSome(order, child);
        }
        SR_TRY(readSome(order, child, answer));
        answer->seconds = srGetSeconds() - begin;
        if (answer->byteCount > order->mostOutput) {
            answer->fate = sr_processFlooded;
            return sr_success;
        }
        if (wasGone) {
            answer->fate = WIFSIGNALED(child->status) ? sr_processCrashed : sr_processEnded;
            answer->code = WIFSIGNALED(child->status) ? WTERMSIG(child->status) : WEXITSTATUS(child->status);
            return sr_success;
        }
        if (answer->seconds > order->mostSeconds) {
            answer->fate = sr_processStalled;
            return sr_success;
        }
        if (order->goesOn != NULL && !order->goesOn(answer->seconds, order->context)) {
            answer->fate = sr_processCancelled;
            return sr_success;
        }
        waitSome(order, child);
    }
}

srResult srRunProcess(const srProcessOrder* order, srProcessAnswer* outAnswer) {
    *outAnswer = (srProcessAnswer){0};
    srProcessAnswer answer = {0};
    Child child = {0};
    if (!grow(&answer, order->mostOutput)) {
        return srFailOutOfMemory("the answer of a program");
    }
    answer.code = start(order, &child);
    if (answer.code != 0) {
        answer.fate = sr_processMissing;
        *outAnswer = answer;
        return sr_success;
    }
    if (order->inputSize == 0) {
        shutdown(child.socket, SHUT_WR);
    }
    srResult result = attend(order, &child, &answer);
    end(&child);
    close(child.socket);
    if (result != sr_success) {
        srDestroyProcessAnswer(&answer);
        return result;
    }
    *outAnswer = answer;
    return sr_success;
}

long srGetProcessNumber(void) {
    return (long)getpid();
}

void srDestroyProcessAnswer(srProcessAnswer* answer) {
    SR_FREE(answer->bytes, answer->capacity);
    *answer = (srProcessAnswer){0};
}
