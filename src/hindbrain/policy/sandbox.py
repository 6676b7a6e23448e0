"""Sandbox: what a command of a run may read, and how much it may use. All else is closed."""

__all__ = [
    "CREDENTIALS",
    "LANDLOCK_LEAST",
    "LARGEST_FILE",
    "MEMORY",
    "PERSONAL",
    "PREFIX_PARTS",
    "PROCESSES",
    "PROC_FILES",
    "SYSTEM",
    "TOOLCHAINS",
]

# Programs and their data. Everybody on the machine may read them.
_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/snap", "/home/linuxbrew")
# From /etc by name: the rest holds password hashes and private keys, which a command of root could read.
_ETC = (
    *("alternatives", "ca-certificates", "ca-certificates.conf", "debian_version", "fonts", "group", "gai.conf", "host.conf"),
    *("hostname", "hosts", "inputrc", "java", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf"),
    *("localtime", "lsb-release", "magic", "mime.types", "nsswitch.conf", "os-release", "passwd", "perl", "pki/ca-trust"),
    *("pki/tls/cert.pem", "pki/tls/certs", "pki/tls/openssl.cnf", "profile.d", "protocols", "python3", "resolv.conf", "services"),
    *("shells", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone", "xml"),
)
SYSTEM = (*_PROGRAMS, *(f"/etc/{name}" for name in _ETC), "/sys/devices/system/cpu")
# Where /proc cannot be made private: files that say nothing about single processes.
PROC_FILES = ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys/kernel", "sys/vm", "uptime", "version")

# Below a person's home: compilers and programs, without the files beside them that hold credentials.
TOOLCHAINS = (
    *(".cargo/bin", ".cargo/registry", ".rustup", "go/bin", "go/pkg/mod", ".nvm", ".volta", ".fnm", ".bun/bin", ".deno/bin"),
    *(".pyenv", ".rbenv", ".asdf", ".local/bin", ".local/lib", ".local/pipx", ".local/share/pipx", ".local/share/uv"),
    *(".local/share/mise/installs", ".local/share/fnm", ".m2/repository", ".gradle/wrapper/dists", ".sdkman/candidates"),
    *(".ghcup/bin", ".ghcup/ghc", "miniconda3", "anaconda3", "miniforge3", ".dotnet"),
)
# Parts of a prefix such as /srv/tool that hold programs and libraries; the prefix itself may hold anything.
PREFIX_PARTS = ("bin", "sbin", "lib", "lib32", "lib64", "libexec", "include")
# Directories below a home that are never a prefix of programs as a whole.
PERSONAL = ("", ".local", ".config", ".cache", ".cargo", ".local/share")

# Below a person's home: closed also where the workspace is the home itself, or holds it.
CREDENTIALS = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", "_netrc", ".git-credentials", ".npmrc", ".yarnrc.yml"),
    *(".pypirc", ".pgpass", ".my.cnf", ".boto", ".s3cfg", ".vault-token", ".env", ".envrc", ".password-store", ".mozilla"),
    *(".claude", ".claude.json", ".codex", ".gemini", ".cursor", ".aider.conf.yml", ".continue", ".windsurf", ".copilot"),
    *(
        ".cargo/credentials",
        ".cargo/credentials.toml",
        ".m2/settings.xml",
        ".m2/settings-security.xml",
        ".gradle/gradle.properties",
    ),
    *(
        ".terraform.d",
        ".terraformrc",
        ".gem/credentials",
        ".bundle/config",
        ".composer/auth.json",
        ".nuget/NuGet",
        ".oci",
        ".fly",
    ),
    *(".bash_history", ".zsh_history", ".sh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history"),
    *(".sqlite_history", ".lesshst", ".viminfo", ".zhistory", ".history", ".local/share/fish", ".local/share/keyrings"),
    *(".local/share/atuin", ".local/state", ".kde/share/apps/kwallet", ".local/share/kwalletd", ".thunderbird", ".pki"),
    *(".config/gh", ".config/glab-cli", ".config/gcloud", ".config/hub", ".config/git/credentials", ".config/google-chrome"),
    *(".config/chromium", ".config/BraveSoftware", ".config/op", ".config/rclone", ".config/doctl", ".config/heroku"),
    *(".config/configstore", ".config/github-copilot", ".config/Code", ".config/Cursor", ".config/Claude", ".config/pip"),
    *(
        ".config/pypoetry",
        ".config/containers",
        ".config/sops",
        ".config/age",
        ".config/fish",
        ".config/helm",
        ".config/anthropic",
    ),
)

PROCESSES = 512  # processes and threads of one command: a parallel build of a large project stays far below
MEMORY = 4 << 30  # bytes of one command, with all that it started
LARGEST_FILE = 1 << 30  # bytes of one file that it writes
# The first version of Landlock that keeps signals inside. Below it, a command could end the person's other programs.
LANDLOCK_LEAST = 6
