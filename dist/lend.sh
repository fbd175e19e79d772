#!/bin/sh
# Installs souk below your home folder and lends this computer to a market:
#
#   curl -fsS MARKET/lend | sh -s TOKEN [--install-only | --service] [FLAGS of `souk lend`]
#   curl -fsS MARKET/lend | sh          again, with the token from before and the newest souk
#
# It needs no root. It writes to ~/.local/share/souk, ~/.local/bin/souk and ~/.config/souk, and to
# nothing else. The token goes into a file that only you can read.
# A market with a certificate of its own: SOUK_CA=FILE before `sh`, and --cacert FILE for curl.
#   --install-only   install and stop: nothing is lent
#   --service        lend as a service of your systemd, which goes on after this terminal
# To remove all of it: rm -r ~/.local/share/souk ~/.local/bin/souk ~/.config/souk ~/.cache/souk
set -eu

market=@MARKET@
version=@VERSION@
sha256=@SHA256@ # Of the bundle; the market's console shows the same.

say() { printf 'souk: %s\n' "$*" >&2; }
die() {
  say "$@"
  exit 1
}

fetch() { # PATH FILE
  if command -v curl >/dev/null; then
    curl -fsS --retry 5 --max-time 900 ${SOUK_CA:+--cacert "$SOUK_CA"} -o "$2" "$market$1"
  elif command -v wget >/dev/null; then
    wget -q ${SOUK_CA:+"--ca-certificate=$SOUK_CA"} -O "$2" "$market$1"
  else
    die 'curl is absent: install it first'
  fi
}

# SOUK_SERVER, SOUK_TOKEN and so on, a line each, as systemd reads them. Other lines stay.
setting() { sed -n "s/^$1=//p" "$settings" 2>/dev/null || true; }
save_setting() { # NAME VALUE; an empty one is removed
  mkdir -p "$config"
  (
    umask 077
    { grep -v "^$1=" "$settings" 2>/dev/null || true; } >"$settings.new"
    [ -z "$2" ] || printf '%s=%s\n' "$1" "$2" >>"$settings.new"
  )
  mv -f "$settings.new" "$settings"
}

check_machine() {
  case "$(uname -s) $(uname -m)" in
    'Linux x86_64') ;;
    *) die "this is $(uname -s) on $(uname -m); the bundle is for Linux on x86_64" ;;
  esac
  for tool in tar gzip sed grep sha256sum readlink mktemp; do
    command -v "$tool" >/dev/null || die "$tool is absent: install it first"
  done
}

install_souk() {
  target=$share/souk-$version-$(printf %.12s "$sha256")
  if [ ! -x "$target/bin/souk" ]; then
    say "fetching souk $version from $market"
    new=$(mktemp -d "$share/new-XXXXXX")
    trap 'rm -rf "$new"' EXIT
    trap 'exit 1' HUP INT TERM
    fetch /v1/agent/bundle "$new/bundle" || die 'the bundle could not be fetched'
    echo "$sha256  $new/bundle" | sha256sum -c - >/dev/null 2>&1 ||
      die "the bundle is not the one that $market announced: SHA-256 differs; nothing was installed"
    tar -xzof "$new/bundle" -C "$new" || die 'the bundle could not be unpacked'
    chmod 755 "$new"/souk-*
    rm -rf "$target"
    mv "$new"/souk-* "$target"
    rm -rf "$new"
    trap - EXIT HUP INT TERM
  fi
  "$target/bin/souk" version >/dev/null || die "souk does not run here: try $target/bin/souk version"
  ln -sfn "$target" "$share/current"
  mkdir -p "$HOME/.local/bin"
  ln -sf "$share/current/bin/souk" "$HOME/.local/bin/souk"
  say "souk $version is installed: $HOME/.local/bin/souk"
  case ":$PATH:" in
    *":$HOME/.local/bin:"*) ;;
    *) say "your PATH lacks $HOME/.local/bin: log in again, or add it" ;;
  esac
}

# Prints how to install bubblewrap on this distribution.
get_bubblewrap() {
  names=$(sed -n 's/^ID\(_LIKE\)\{0,1\}=//p' /etc/os-release 2>/dev/null | tr -d '"' | tr '\n' ' ')
  for name in $names; do
    case $name in
      debian | ubuntu) echo 'sudo apt install bubblewrap' && return ;;
      fedora | rhel | centos) echo 'sudo dnf install bubblewrap' && return ;;
      arch) echo 'sudo pacman -S bubblewrap' && return ;;
      suse | opensuse*) echo 'sudo zypper install bubblewrap' && return ;;
      alpine) echo 'sudo apk add bubblewrap' && return ;;
    esac
  done
  echo 'install the package bubblewrap of your distribution'
}

need_bubblewrap() {
  for path in /usr/bin/bwrap /usr/local/bin/bwrap /bin/bwrap; do
    [ -x "$path" ] || continue
    has=$("$path" --version | sed 's/[^0-9.]//g')
    case $has in
      0.[0-7] | 0.[0-7].*)
        die "bubblewrap $has is too old: it takes 0.8 or later, as in Debian 12 or Ubuntu 24.04" ;;
    esac
    return
  done
  say 'bubblewrap is not installed. It keeps the programs of others away from your files.'
  say "  first: $(get_bubblewrap)"
  die "  then:  sh $share/lend.sh"
}

start_service() {
  systemctl --user show-environment >/dev/null 2>&1 ||
    die 'your systemd does not answer: log in on this computer itself, or lend without --service'
  units=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user
  mkdir -p "$units"
  sed "s|^ExecStart=[^ ]*|ExecStart=$share/current/bin/souk|" \
    "$share/current/share/souk/souk-lend.service" >"$units/souk-lend.service"
  systemctl --user daemon-reload
  systemctl --user enable souk-lend
  systemctl --user restart souk-lend
  say 'lending as a service. What it says: journalctl --user -u souk-lend -f'
  say '  to end it: systemctl --user disable --now souk-lend'
  say "  to go on when you log out: sudo loginctl enable-linger $(id -un)"
}

# Is somebody there to answer, and a systemd to run a service?
can_ask() { [ -t 2 ] && [ -r /dev/tty ] && systemctl --user show-environment >/dev/null 2>&1; }

start() { # FLAGS of souk lend
  if [ "$service" = ask ] && can_ask; then
    printf 'souk: lend also after this terminal is closed, as a service? [y/N] ' >&2
    read -r answer </dev/tty || answer=
    case $answer in [yY]*) service=yes ;; esac
  elif [ "$service" = ask ]; then
    say "to lend as a service instead: sh $share/lend.sh --service"
  fi
  if [ "$service" = yes ]; then
    start_service
    return
  fi
  export SOUK_SERVER="$market" SOUK_TOKEN
  SOUK_TOKEN=$(setting SOUK_TOKEN)
  # shellcheck disable=SC2046 # As systemd does, flags are split at blanks.
  [ $# -gt 0 ] || set -- $(setting SOUK_LEND_FLAGS)
  exec "$share/current/bin/souk" lend "$@" </dev/null
}

main() {
  share=${XDG_DATA_HOME:-$HOME/.local/share}/souk
  config=${XDG_CONFIG_HOME:-$HOME/.config}/souk
  settings=$config/lend.env
  service=ask
  check_machine
  case ${1:-} in
    souk_*[!A-Za-z0-9_-]*) die 'that is not a whole token: copy the line again' ;;
    souk_*)
      [ "$(setting SOUK_SERVER)" = "$market" ] || save_setting SOUK_CA ''
      save_setting SOUK_TOKEN "$1"
      save_setting SOUK_SERVER "$market"
      shift
      ;;
    [!-]*) die "'$1' is not a token: make one with \"Lend a machine\" in the console of $market" ;;
  esac
  mkdir -p "$share"
  if [ "$0" != "$share/lend.sh" ]; then
    # Others may see the arguments of this process, and the token among them: so it ends here, and
    # the same script goes on without, from a file that can be run again.
    fetch /lend "$share/lend.sh.new" || die "$market does not answer"
    mv -f "$share/lend.sh.new" "$share/lend.sh"
    exec sh "$share/lend.sh" "$@" </dev/null
  fi
  case ${1:-} in
    --install-only)
      install_souk
      return
      ;;
    --service) service=yes && shift ;;
  esac
  # A token is for the market that it came from, and is shown to no other.
  if [ -z "$(setting SOUK_TOKEN)" ] || [ "$(setting SOUK_SERVER)" != "$market" ]; then
    die "a token is missing: make one with \"Lend a machine\" in the console of $market"
  fi
  [ -z "${SOUK_CA:-}" ] || save_setting SOUK_CA "$(readlink -f "$SOUK_CA")"
  SOUK_CA=$(setting SOUK_CA)
  [ -z "$SOUK_CA" ] || export SOUK_CA
  [ $# -eq 0 ] || save_setting SOUK_LEND_FLAGS "$*"
  install_souk
  need_bubblewrap
  start "$@"
}

# Last, so that a script that arrived in part does nothing.
main "$@"
