//! Generates secrets from their description in `formats.table`, with a seeded generator.

/// A generator of numbers that is the same everywhere.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// A line of the table.
pub struct Format {
    pub label: &'static str,
    pub place: &'static str,
    pub names: Vec<&'static str>,
    sample: &'static str,
}

/// A text with a secret in it.
pub struct Sample {
    pub text: String,
    pub secret: String,
}

pub fn formats() -> Vec<Format> {
    let lines = include_str!("formats.table").lines().filter(|line| !line.starts_with('#'));
    let read = |line: &'static str| {
        let cells: Vec<&str> = line.splitn(4, " ; ").collect();
        let [label, place, names, sample] = cells[..] else { panic!("cannot read {line}") };
        let names = names.split(' ').filter(|name| *name != "-").collect();
        Format { label, place, names, sample }
    };
    lines.map(read).collect()
}

impl Format {
    /// A secret of this format, alone or with its required surroundings.
    pub fn draw(&self, dice: &mut Dice) -> Sample {
        let drawn = fill(self.sample, dice).replace("\\n", "\n").replace("\\\n", "\\n");
        match drawn.split_once('«').and_then(|(before, rest)| Some((before, rest.split_once('»')?))) {
            Some((before, (secret, after))) => {
                Sample { text: format!("{before}{secret}{after}"), secret: secret.to_owned() }
            }
            None => Sample { secret: drawn.clone(), text: drawn },
        }
    }
}

fn fill(template: &str, dice: &mut Dice) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let Some(end) = rest[start..].find('}').map(|end| start + end) else { break };
        let inside = &rest[start + 1..end];
        let choice = inside.strip_prefix('=').map(|choices| choices.split('|').collect::<Vec<_>>());
        let class = inside.rsplit_once(':').and_then(|(class, length)| Some((alphabet(class)?, range(length)?)));
        filled += &rest[..start];
        match (choice, class) {
            (Some(choices), _) => filled += dice.pick(&choices),
            (None, Some((alphabet, (least, most)))) => {
                let length = least + dice.below(most - least + 1);
                filled += &random(&alphabet, length, dice);
            }
            (None, None) => {
                filled.push('{');
                rest = &rest[start + 1..];
                continue;
            }
        }
        rest = &rest[end + 1..];
    }
    filled + rest
}

fn range(length: &str) -> Option<(usize, usize)> {
    let (least, most) = length.split_once('-').unwrap_or((length, length));
    Some((least.parse().ok()?, most.parse().ok()?))
}

fn random(alphabet: &[char], length: usize, dice: &mut Dice) -> String {
    if alphabet.is_empty() {
        let hex: Vec<char> = "0123456789abcdef".chars().collect();
        return [8, 4, 4, 4, 12].map(|part| random(&hex, part, dice)).join("-");
    }
    (0..length).map(|_| alphabet[dice.below(alphabet.len())]).collect()
}

/// The characters of a class and those listed behind its name; `None` for a uuid.
fn alphabet(class: &str) -> Option<Vec<char>> {
    let (name, more) = class.split_once(' ').unwrap_or((class, ""));
    let (lower, upper, digits) = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789");
    let base = match name {
        "uuid" => return Some(Vec::new()),
        "digit" => digits.to_owned(),
        "lower" => lower.to_owned(),
        "upper" => upper.to_owned(),
        "letter" => [lower, upper].concat(),
        "hex-lower" | "hex" => "0123456789abcdef".to_owned(),
        "a-h" => "0123456789abcdefgh".to_owned(),
        "alnum" => [lower, upper, digits].concat(),
        "lower+digit" => [lower, digits].concat(),
        "upper+digit" => [upper, digits].concat(),
        "base32" => [upper, "234567"].concat(),
        "base58" => "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".to_owned(),
        "bech32-lower" => "qpzry9x8gf2tvdw0s3jn54khce6mua7l".to_owned(),
        "bech32" => "023456789ACDEFGHJKLMNPQRSTUVWXYZ".to_owned(),
        "base64" => [lower, upper, digits, "+/"].concat(),
        _ => return None,
    };
    let more = more.split(' ').flat_map(str::chars);
    Some(base.chars().chain(more).collect())
}

/// Ways to write a secret that is recognised by itself.
pub const AROUND_TOKENS: &[&str] = &[
    "{}",
    "export SERVICE={}",
    "  \"value\": \"{}\",",
    "curl -H 'X-Service: {}' https://example.org/",
    "2026-01-02T03:04:05Z INFO using {} for the request",
    "{\\\"body\\\":\\\"first\\n{}\\n\\\"}",
    "\x1b[31m{}\x1b[0m",
    "https://example.org/cb?x=1&v={}&y=2",
];

/// Ways to assign a secret to a name.
pub const AROUND_NAMES: &[&str] = &[
    "NAME={}",
    "export NAME=\"{}\"",
    "NAME_TOKEN = '{}'",
    "  \"nameKey\": \"{}\",",
    "name.secret: {}",
    "name_key := \"{}\"",
    "'name-api-key' => '{}',",
    "<name_secret>{}</name_secret>",
    "set NAME_API_KEY={}\r",
    "{\\\"name_id\\\": \\\"{}\\\"}",
];

/// A named value in one of these ways.
pub fn assigned(around: &str, name: &str, value: &str) -> String {
    let named = around.replace("NAME", &name.to_uppercase()).replace("name", name);
    named.replace("{}", value)
}

/// Whether no run of half of `secret`, and of at least twelve bytes, is left in `clean`.
pub fn is_gone(secret: &str, clean: &[u8]) -> bool {
    let secret = secret.as_bytes();
    let run = secret.len().min(12.max(secret.len() / 2));
    !secret.windows(run).any(|part| memchr::memmem::find(clean, part).is_some())
}
