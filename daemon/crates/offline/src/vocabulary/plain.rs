//! Words without meaning here, and names of programs.

/// Words without meaning here.
pub(super) const FILLERS: &str = "a an the this that these those my your our me i you we us is are was were be been am do does did can could \
    would will shall should may might must please pls thanks thank kindly just now currently today's so very really some any \
    compute calculate check of for on at by to with from as than then what how has have had got get gets tell give let lets there here's i'm it's what's \
    who's where's want wanna need needs like if whether or not into onto out one ones also too only exactly actually \
    and und computer machine system box pc laptop currently active current existing thing things something anything stuff much \
    most more sorted ordered by descending whose via per about der die das den dem des ein eine einen einem einer ist sind war \
    ich du wir mir mich bitte mal kannst könntest was wie von vom zum zur zu für mit auf im in an am aus gibt es hier alles viel \
    within inside under below hast hat haben sich meine mein meinen meiner dieser diesem diesen dieses know see check \
    keep saved appear appears occur occurs still clean somewhere machine's computer's lot lots long went ok okay hm hmm well cheers already still really again somehow hereby quickly already quick easily simply perhaps maybe doing else ever say";

/// Programs with names that suffice to make a question about them plausible.
pub(super) const PROGRAMS: &str = "alias apt apt-get awk base64 bash bat brew bzip2 cargo cat cd chgrp chmod chown clang cmake comm cp cron \
    crontab curl cut date dd df diff dig dnf docker du echo env exa export fd ffmpeg find fish fold free fzf gcc gdb git go grep \
    gunzip gzip head htop iconv id ifconfig ip iptables java jobs join journalctl jq kill killall kubectl less ln locate ls lsblk \
    lsof make man mkdir mktemp more mount mv nano nc ncdu netstat nice nl node nohup npm nslookup openssl pacman paste patch perl \
    pgrep ping pip pkill printf ps pwd nginx apache apache2 httpd mysql mysqld mariadb postgres \
    postgresql redis redis-server mongod mongodb dockerd sshd cron cups rabbitmq elasticsearch grafana prometheus jenkins gunicorn \
    uvicorn haproxy memcached firefox chrome chromium vlc gimp slack spotify thunderbird code teams zoom pgrep python python3 readlink realpath rev rg rm rmdir rsync ruby rustc scp screen sed seq \
    sftp shred sort split ss ssh ssh-keygen stat strace su sudo systemctl tac tail tar tcpdump tee tmux top touch tr traceroute \
    tree truncate tsort tty ufw uname uniq unzip uptime useradd vi vim vmstat watch wc wget which who xargs xxd xz yes yq zip zsh zstd";

/// Words one letter away from a key word, with another meaning.
pub(super) const NO_TYPOS: &str = "posts poets sports spots shall small tiles miles piles fires fines wiles notes mates gates paths baths \
    bright lights night knight while white whale slash crash trash horse house mouse place plate world story model title table \
    table cable fable sizer prize maize order older elder holder folded stage state stats stare share shape brand bland \
    commits limits limit posts roots route router scope space spice slice price process progress mount month count court \
    mouth south event every clean clear learn train brain grain green great wheat cheat treat tread bread dread thread threads";

/// Words that tell how, whose or how many: never a value.
pub(super) const MANNER: &str = "everything everyone everybody anyone someone his her hers their theirs them him mine yours itself myself again \
    anymore older newer bigger smaller without except instead together altogether twice once forever automatically safely completely directly \
    separately recursively permanently temporarily";

/// Words that say how much or which.
pub(super) const NARROWING: &str = "all every each whole only without not no except but never first last per both again force dry than and then other another";

/// Verbs that ask for something new.
pub(super) const MAKING: &str = "write draft implement generate design invent";
