/* Run a program and refuse every use of the network outside of this machine, by it and by every process it starts.
 *
 *   network_guard LOG PROGRAM [ARGUMENT...]
 *
 * A seccomp filter stops each connect, sendto, sendmsg and sendmmsg in the kernel, so native code and static programs are seen
 * too. This process looks at the address: Unix sockets and loopback pass, except the ports and sockets of resolvers. Anything
 * else fails with ENETUNREACH and is one line in LOG: process id, program, call, address.
 *
 * The exit code is the program's. When it ends, processes that it left running are killed. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "network_guard knows x86_64 and aarch64"
#endif

/* Sockets behind which another process asks the network for a host. */
static const char *const RESOLVERS[] = {"/systemd/resolve/", "/avahi-daemon/"};
/* Caches that are asked for users as well as for hosts: refused without a word, so that the C library asks for itself. */
static const char *const CACHES[] = {"/nscd/", "/sss/"};

enum { DNS = 53 };
enum verdict { PASSES, REFUSED, RECORDED };

static void die(const char *what) {
    perror(what);
    exit(125);
}

static int install(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS), /* calls of another architecture would not be seen */
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendto, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmmsg, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 425 /* io_uring_setup: its calls would not be seen */, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) die("no_new_privs");
    int fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (fd < 0) die("seccomp");
    return fd;
}

static int read_memory(pid_t pid, unsigned long long at, void *into, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t got = pread(fd, into, size, (off_t)at);
    close(fd);
    return got == (ssize_t)size ? 0 : -1;
}

static int is_loopback6(const struct in6_addr *a) {
    return IN6_IS_ADDR_LOOPBACK(a) || (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
}

static int names_one(const char *path, const char *const *places, size_t count) {
    for (size_t at = 0; at < count; at++)
        if (strstr(path, places[at])) return 1;
    return 0;
}

/* Judge an address, and give its name. */
static enum verdict judged(const struct sockaddr_storage *address, size_t size, char *name, size_t room) {
    char text[INET6_ADDRSTRLEN] = "";
    if (address->ss_family == AF_UNSPEC || address->ss_family == AF_NETLINK) return PASSES; /* no peer; the kernel */
    if (address->ss_family == AF_UNIX) {
        char path[sizeof(struct sockaddr_storage) + 1] = "";
        size_t begin = offsetof(struct sockaddr_un, sun_path);
        if (size > begin) memcpy(path, (const char *)address + begin, size - begin);
        snprintf(name, room, "unix:%s", path);
        if (names_one(path, CACHES, sizeof CACHES / sizeof *CACHES)) return REFUSED;
        return names_one(path, RESOLVERS, sizeof RESOLVERS / sizeof *RESOLVERS) ? RECORDED : PASSES;
    }
    if (address->ss_family == AF_INET && size >= sizeof(struct sockaddr_in)) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;
        inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
        snprintf(name, room, "%s:%d", text, ntohs(in->sin_port));
        return (ntohl(in->sin_addr.s_addr) >> 24) != 127 || ntohs(in->sin_port) == DNS ? RECORDED : PASSES;
    }
    if (address->ss_family == AF_INET6 && size >= sizeof(struct sockaddr_in6)) {
        const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)address;
        inet_ntop(AF_INET6, &in->sin6_addr, text, sizeof text);
        snprintf(name, room, "[%s]:%d", text, ntohs(in->sin6_port));
        return !is_loopback6(&in->sin6_addr) || ntohs(in->sin6_port) == DNS ? RECORDED : PASSES;
    }
    snprintf(name, room, "family %d", address->ss_family);
    return RECORDED;
}

/* Read the next address of a call: 1 if there is one more to look at, 0 at the end, -1 if it cannot be read. */
static int next_address(const struct seccomp_notif *call, unsigned *number, struct sockaddr_storage *into, size_t *size) {
    unsigned long long at = 0, length = 0, count = call->data.nr == SYS_sendmmsg ? call->data.args[2] : 1;
    const __u64 *args = call->data.args;
    if (*number >= count) return 0;
    if (call->data.nr == SYS_connect) at = args[1], length = args[2];
    else if (call->data.nr == SYS_sendto) at = args[4], length = args[5];
    else {
        struct mmsghdr message; /* begins with what sendmsg gets */
        if (read_memory((pid_t)call->pid, args[1] + *number * sizeof message, &message.msg_hdr, sizeof message.msg_hdr)) return -1;
        at = (unsigned long long)message.msg_hdr.msg_name, length = message.msg_hdr.msg_namelen;
    }
    ++*number;
    *size = at && length >= sizeof(sa_family_t) ? (length < sizeof *into ? (size_t)length : sizeof *into) : 0;
    memset(into, 0, sizeof *into);
    return *size && read_memory((pid_t)call->pid, at, into, *size) ? -1 : 1;
}

/* Judge a call by all its addresses, and give the name of the one that counts. */
static enum verdict judged_call(const struct seccomp_notif *call, char *name, size_t room) {
    struct sockaddr_storage address;
    size_t size = 0;
    unsigned number = 0;
    int more;
    while ((more = next_address(call, &number, &address, &size)) > 0) {
        enum verdict found = size ? judged(&address, size, name, room) : PASSES;
        if (found != PASSES) return found;
    }
    if (more == 0) return PASSES;
    snprintf(name, room, "an address that cannot be read");
    return RECORDED;
}

static const char *call_name(int nr) {
    return nr == SYS_connect ? "connect" : nr == SYS_sendto ? "sendto" : nr == SYS_sendmsg ? "sendmsg" : "sendmmsg";
}

static void record(int log, const struct seccomp_notif *call, const char *name) {
    char path[64], program[256] = "?", line[1024];
    snprintf(path, sizeof path, "/proc/%d/cmdline", call->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t got = read(fd, program, sizeof program - 1);
        for (ssize_t at = 0; at < got; at++)
            if (program[at] < ' ') program[at] = ' ';
        program[got > 0 ? got : 0] = 0;
        close(fd);
    }
    int length = snprintf(line, sizeof line, "%d %s | %s %s\n", call->pid, program, call_name(call->data.nr), name);
    if (write(log, line, (size_t)length) != length) die("log");
}

static void answer(int listener, int log) {
    struct seccomp_notif call;
    char name[512] = "";
    memset(&call, 0, sizeof call);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call)) return; /* it ended meanwhile */
    struct seccomp_notif_resp reply = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    enum verdict found = judged_call(&call, name, sizeof name);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id)) return; /* what was read may be another process */
    if (found == RECORDED) record(log, &call, name);
    if (found != PASSES) {
        reply.flags = 0;
        reply.error = -ENETUNREACH;
    }
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply); /* fails only if the caller is gone */
}

/* Kill every process below this one. Orphans are ours, so a few rounds reach those that were started meanwhile. */
static void kill_the_rest(void) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    for (;;) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (fd >= 0) close(fd);
        if (got <= 0) return;
        text[got] = 0;
        for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) kill((pid_t)atoi(word), SIGKILL);
        if (waitpid(-1, NULL, 0) < 0) return;
    }
}

static volatile sig_atomic_t asked_to_end = 0;

static void ask_to_end(int number) { asked_to_end = number; }

int main(int count, char **words) {
    int told[2];
    if (count < 3) return fprintf(stderr, "network_guard LOG PROGRAM [ARGUMENT...]\n"), 125;
    int log = open(words[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0 || pipe2(told, O_CLOEXEC)) die(words[1]);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* a server that leaves its parent stays below this process */
    pid_t supervisor = getpid(), program = fork();
    if (program < 0) die("fork");
    if (program == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != supervisor) return 125;
        int listener = install();
        if (write(told[1], &listener, sizeof listener) != sizeof listener) die("pipe");
        raise(SIGSTOP); /* until the supervisor has the listener: what follows may already be stopped by it */
        execvp(words[2], words + 2);
        die(words[2]);
    }
    close(told[1]);
    int number, status = 0, listener = -1;
    if (read(told[0], &number, sizeof number) == sizeof number && waitpid(program, &status, WUNTRACED) == program && WIFSTOPPED(status)) {
        int pidfd = (int)syscall(SYS_pidfd_open, program, 0);
        listener = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
        if (listener < 0) perror("the listener of the filter");
    }
    if (listener < 0) return kill(program, SIGKILL), 125;
    kill(program, SIGCONT);
    signal(SIGTERM, ask_to_end);
    signal(SIGINT, ask_to_end);
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    for (;;) {
        if (asked_to_end) return kill_the_rest(), 128 + asked_to_end;
        if (poll(&ready, 1, 50) > 0 && ready.revents & POLLIN) answer(listener, log);
        for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
            if (ended == program) {
                kill_the_rest();
                return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            }
    }
}
