# Plants files for the rows' programs in the current folder, which is empty. Needs nothing but a shell; what a missing program
# would have made is missing.
has() { command -v "$1" >/dev/null; }

printf 'alpha one\nbeta two\ngamma three\n' >text.txt
printf 'alpha one\nbeta 2\ndelta four\n' >other.txt
printf '3\n1\n2\n' >numbers.txt
printf 'name,size\nfirst,1\nsecond,2\n' >data.csv
printf '{"a": [1, 2], "b": {"c": "text"}}\n' >data.json
printf 'a: 1\nb: [x, y]\n' >data.yaml
printf '<?xml version="1.0"?><a><b c="d">e</b></a>\n' >data.xml
printf '<html><body><p>text</p></body></html>\n' >page.html
printf '#!/bin/sh\necho script\n' >script.sh
printf 'int main(void) { return 0; }\n' >main.c
printf '\211PNG\r\n\032\n' >picture.png
has convert && convert -size 4x4 xc:red picture.png && convert picture.png picture.jpg && convert picture.png paper.pdf
[ -e paper.pdf ] || printf '%%PDF-1.4\n%%%%EOF\n' >paper.pdf
[ -e picture.jpg ] || printf '\377\330\377' >picture.jpg
has ffmpeg && ffmpeg -loglevel quiet -f lavfi -i anullsrc -t 0.1 sound.wav </dev/null
[ -e sound.wav ] || printf 'RIFF' >sound.wav
# Modules that would be taken for Python's own.
printf 'open("new", "w")\n' | tee json.py zipfile.py tarfile.py >site.py
cp /bin/true program
mkdir folder folder/inner
cp text.txt folder/text.txt
cp main.c folder/main.c
ln -s text.txt link
ln -s /nowhere/at/all broken
tar -cf archive.tar text.txt folder
tar -czf archive.tar.gz text.txt
has cpio && printf 'text.txt\n' | cpio -o --quiet >archive.cpio
has zip && zip -q archive.zip text.txt
has 7z && 7z a archive.7z text.txt >/dev/null
has ar && ar rc archive.a text.txt
for pair in gzip:gz bzip2:bz2 xz:xz zstd:zst lz4:lz4 lzip:lz; do
    has "${pair%%:*}" && "${pair%%:*}" -c text.txt >"text.txt.${pair##*:}"
done
has sqlite3 && sqlite3 data.sqlite 'create table t(a); insert into t values (1);'
has openssl && openssl req -x509 -newkey rsa:2048 -nodes -keyout /dev/null -out cert.pem -subj /CN=test 2>/dev/null
has ssh-keygen && ssh-keygen -q -t ed25519 -N '' -f key && mv key.pub public.pub && rm key
has md5sum && md5sum text.txt >sums.md5
has diff && diff -u text.txt other.txt >change.diff
has jar && jar cf archive.jar text.txt
has dpkg-deb && mkdir -p deb/DEBIAN && printf 'Package: x\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n' \
    >deb/DEBIAN/control && dpkg-deb --build deb package.deb >/dev/null && rm -r deb

# Names that are options, for patterns.
for name in --output=new -onew --compress-program=script.sh -i -w --pre=./script.sh -exec --checkpoint-action=exec=script.sh \
    '|touch new' '$(touch new)' '-new'; do
    cp text.txt "./$name"
done

# Programs in the way of the system's, for whoever looks in the current folder.
for name in less more cat sh bash git gzip ssh diff; do
    printf '#!/bin/sh\ntouch new\n' >"./$name"
    chmod +x "./$name"
done
chmod +x script.sh

has git || exit 0
git init -q -b main .
git config user.name test && git config user.email test@test
git add text.txt data.csv main.c && git commit -q -m first
printf 'more\n' >>main.c && git commit -q -am second
git tag v1 && git branch side && git stash list >/dev/null
git notes add -m note HEAD
printf 'changed\n' >>data.csv
git worktree list >/dev/null && git gc -q && git bundle create -q folder/all.bundle main
