// SPDX-License-Identifier: GPL-3.0-or-later
//
// softrig-tetgen: TetGen in a process of its own, which ends when TetGen does. Reads one order from its
// standard input, writes one answer to its standard output (mesh/tetgen_protocol.h), writes no file and no
// word. Whatever goes wrong is an exit code or a signal: TetGen exits and crashes by itself, so nothing is
// caught and nothing is freed.

#include "mesh/tetgen_protocol.h"

#include "tetgen.h"

#include <fcntl.h>
#include <new>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__linux__)
#include <signal.h>
#include <sys/prctl.h>
#endif

static const int mostInherited = 1024;

void* operator new(size_t size) {
    void* block = malloc(size > 0 ? size : 1);
    if (block == NULL) {
        _exit(sr_tetgenExitMemory);
    }
    return block;
}

void* operator new[](size_t size) {
    return operator new(size);
}

void operator delete(void* block) noexcept {
    free(block);
}

void operator delete[](void* block) noexcept {
    free(block);
}

void operator delete(void* block, size_t) noexcept {
    free(block);
}

void operator delete[](void* block, size_t) noexcept {
    free(block);
}

// Where orders come from and answers go; the standard ones lead nowhere from here on, as TetGen prints.
struct Pipes {
    int in;
    int out;
};

static Pipes takePipes() {
    for (int descriptor = STDERR_FILENO + 1; descriptor < mostInherited; descriptor++) {
        close(descriptor);
    }
    Pipes pipes = {dup(STDIN_FILENO), dup(STDOUT_FILENO)};
    int nowhere = open("/dev/null", O_RDWR);
    if (pipes.in < 0 || pipes.out < 0 || nowhere < 0) {
        _exit(sr_tetgenExitOrder);
    }
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        dup2(nowhere, descriptor);
    }
    close(nowhere);
    return pipes;
}

// No core file, and no life of its own when the host is gone. What it was told as its host's number tells
// whether that one went before it could be bound: 1 is no sign of it, as in a container the host may be 1.
static void bindToHost(const char* host) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (host != NULL && (long)getppid() != strtol(host, NULL, 10)) {
        _exit(sr_tetgenExitPipe);
    }
}

static void limit(const srTetgenOrder& order) {
    rlim_t seconds = (rlim_t)order.mostSeconds, bytes = (rlim_t)order.mostBytes;
    struct rlimit time = {seconds, seconds + 1}, memory = {bytes, bytes};
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_AS, &memory);
    alarm((unsigned)order.mostSeconds);
}

static void readBytes(int pipe, void* to, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t count = read(pipe, (char*)to + done, size - done);
        if (count <= 0) {
            _exit(sr_tetgenExitOrder);
        }
        done += (size_t)count;
    }
}

static void writeBytes(int pipe, const void* from, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t count = write(pipe, (const char*)from + done, size - done);
        if (count <= 0) {
            _exit(sr_tetgenExitPipe);
        }
        done += (size_t)count;
    }
}

static bool isWithin(int64_t value, int64_t least, int64_t most) {
    return value >= least && value <= most;
}

static bool isUnderstood(const srTetgenOrder& order) {
    const int32_t* sizes = order.sizeCounts;
    return order.magic == SR_TETGEN_MAGIC && isWithin(order.pointCount, 4, SR_TETGEN_MOST_POINTS) &&
           isWithin(order.extraCount, 0, SR_TETGEN_MOST_POINTS) &&
           isWithin(order.holeCount, 0, SR_TETGEN_MOST_POINTS) &&
           isWithin(order.triangleCount, 4, SR_TETGEN_MOST_TRIANGLES) && isWithin(sizes[0], 0, 4096) &&
           isWithin(sizes[1], 0, 4096) && isWithin(sizes[2], 0, 4096) &&
           (int64_t)sizes[0] * sizes[1] * sizes[2] <= SR_TETGEN_MOST_SIZES &&
           isWithin(order.mostSeconds, 1, 1 << 20) && order.mostBytes > 0 && order.radiusEdge >= 1.0 &&
           order.radiusEdge <= 100.0 && order.minDihedralDegrees >= 0.0 && order.minDihedralDegrees <= 60.0;
}

// The wanted lengths, for the one function that TetGen asks without telling for whom.
static struct {
    const srTetgenOrder* order;
    const float* values;
} sizing;

static double sizeAt(const double x[3]) {
    const srTetgenOrder& order = *sizing.order;
    int cell[3];
    double share[3];
    for (int i = 0; i < 3; i++) {
        double place = (x[i] - order.sizeOrigin[i]) / order.sizeSpacing;
        double last = (double)(order.sizeCounts[i] - 1);
        place = place > 0.0 ? place : 0.0;
        place = place < last ? place : last;
        cell[i] = (int)place < order.sizeCounts[i] - 2 ? (int)place : order.sizeCounts[i] - 2;
        share[i] = place - cell[i];
    }
    double sum = 0.0;
    for (int corner = 0; corner < 8; corner++) {
        int64_t index = 0;
        double weight = 1.0;
        for (int i = 2; i >= 0; i--) {
            int step = corner >> i & 1;
            index = index * order.sizeCounts[i] + cell[i] + step;
            weight *= step != 0 ? share[i] : 1.0 - share[i];
        }
        sum += weight * (double)sizing.values[index];
    }
    return sum;
}

// A cell is too large where its longest edge is a third longer than wanted.
static bool isTooLarge(REAL* a, REAL* b, REAL* c, REAL* d, REAL*, REAL) {
    const REAL* corners[4] = {a, b, c, d};
    double centre[3], longest = 0.0;
    for (int i = 0; i < 3; i++) {
        centre[i] = 0.25 * (a[i] + b[i] + c[i] + d[i]);
    }
    for (int first = 0; first < 4; first++) {
        for (int second = first + 1; second < 4; second++) {
            double square = 0.0;
            for (int i = 0; i < 3; i++) {
                double step = corners[first][i] - corners[second][i];
                square += step * step;
            }
            longest = square > longest ? square : longest;
        }
    }
    double wanted = 4.0 / 3.0 * sizeAt(centre);
    return longest > wanted * wanted;
}

static void fillFacets(int pipe, int32_t count, tetgenio* surface) {
    int32_t* corners = new int32_t[3 * (size_t)count];
    readBytes(pipe, corners, 3 * (size_t)count * sizeof(int32_t));
    surface->numberoffacets = count;
    surface->facetlist = new tetgenio::facet[(size_t)count];
    tetgenio::polygon* polygons = new tetgenio::polygon[(size_t)count];
    for (int32_t i = 0; i < count; i++) {
        int32_t* triangle = corners + 3 * (size_t)i;
        for (int c = 0; c < 3; c++) {
            if (!isWithin(triangle[c], 0, surface->numberofpoints - 1)) {
                _exit(sr_tetgenExitOrder);
            }
        }
        tetgenio::init(&surface->facetlist[i]);
        polygons[i].vertexlist = triangle;
        polygons[i].numberofvertices = 3;
        surface->facetlist[i].polygonlist = &polygons[i];
        surface->facetlist[i].numberofpolygons = 1;
    }
}

static void readOrder(int pipe, srTetgenOrder* order, tetgenio* surface) {
    readBytes(pipe, order, sizeof(*order));
    if (!isUnderstood(*order)) {
        _exit(sr_tetgenExitOrder);
    }
    limit(*order);
    size_t pointCount = (size_t)order->pointCount + (size_t)order->extraCount;
    surface->numberofpoints = (int)pointCount;
    surface->pointlist = new REAL[3 * pointCount];
    readBytes(pipe, surface->pointlist, 3 * pointCount * sizeof(REAL));
    surface->numberofholes = order->holeCount;
    surface->holelist = new REAL[3 * (size_t)order->holeCount];
    readBytes(pipe, surface->holelist, 3 * (size_t)order->holeCount * sizeof(REAL));
    fillFacets(pipe, order->triangleCount, surface);
    const int32_t* counts = order->sizeCounts;
    size_t sizeCount = (size_t)counts[0] * (size_t)counts[1] * (size_t)counts[2];
    if (counts[0] >= 2 && counts[1] >= 2 && counts[2] >= 2 && order->sizeSpacing > 0.0) {
        float* sizes = new float[sizeCount];
        readBytes(pipe, sizes, sizeCount * sizeof(float));
        sizing.order = order;
        sizing.values = sizes;
        surface->tetunsuitable = isTooLarge;
    }
}

// What -pYq with these numbers and -QNEF would say. Without the command line: its numbers are read by a C
// library in the host's language, and it wants file names.
static void setSwitches(const srTetgenOrder& order, tetgenbehavior* behavior) {
    behavior->plc = 1;
    behavior->nobisect = 1;
    behavior->quality = 1;
    behavior->minratio = order.radiusEdge;
    behavior->mindihedral = order.minDihedralDegrees;
    behavior->quiet = 1;
    behavior->nofacewritten = 1;
}

static uint64_t hashBytes(uint64_t hash, const void* bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ ((const unsigned char*)bytes)[i]) * 1099511628211u;
    }
    return hash;
}

static void writeReply(int pipe, const tetgenio& mesh) {
    if (mesh.numberoftetrahedra <= 0 || mesh.numberofcorners != 4) {
        _exit(sr_tetgenExitEmpty);
    }
    size_t nodeBytes = 3 * (size_t)mesh.numberofpoints * sizeof(REAL);
    size_t cellBytes = 4 * (size_t)mesh.numberoftetrahedra * sizeof(int32_t);
    srTetgenReply reply = {SR_TETGEN_MAGIC, mesh.numberofpoints, mesh.numberoftetrahedra, 0, 0};
    reply.hash = hashBytes(14695981039346656037u, mesh.pointlist, nodeBytes);
    reply.hash = hashBytes(reply.hash, mesh.tetrahedronlist, cellBytes);
    writeBytes(pipe, &reply, sizeof(reply));
    writeBytes(pipe, mesh.pointlist, nodeBytes);
    writeBytes(pipe, mesh.tetrahedronlist, cellBytes);
}

int main(int count, char** arguments) {
    bindToHost(count > 1 ? arguments[1] : NULL);
    Pipes pipes = takePipes();
    srTetgenOrder order;
    tetgenio* surface = new tetgenio;
    tetgenio* mesh = new tetgenio;
    tetgenbehavior behavior;
    readOrder(pipes.in, &order, surface);
    setSwitches(order, &behavior);
    tetrahedralize(&behavior, surface, mesh, NULL, NULL);
    writeReply(pipes.out, *mesh);
    _exit(sr_tetgenExitFine);
}
