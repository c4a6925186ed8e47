//! Secrets that people chose go by their names, and what only looks like them stays.

use cohab_secrets::Scrubber;

/// Lines beside which nobody chose a secret: placeholders, code, types, places, sentences, translations, names of objects.
const ORDINARY: &str = r#"ADMIN_PASSWORD="$(cat /run/secrets/webhook_admin_password)"
POSTGRES_PASSWORD="your-secret-key-here"
# DB_PASSWORD=replace_with_your_key
export ADMIN_PASSWORD=xxxxxxxx
SMTP_PASSWORD=${SMTP_PASSWORD:?must be set}
$userPassword = $env:USER_PASSWORD
set MAIL_PASSWORD=%MAIL_PASSWORD%
  admin_password: "{{ admin_password }}"
  smtp_password: !Ref EventPassword
<password>changeit</password>
postgresql://user:<password>@192.168.1.40/billing
postgres://$DB_USER:$DB_PASS@srv-sql02/wiki
engine = create_engine(f"postgresql://{user}:{password}@{host}/{db}")
ssh://git@widgets.example:3000/profile.git
secret = self.secret
client = Client(secret_key=secret_key)
def fetch_buffer(user, passwd=None):
const refreshToken = process.env.REFRESH_TOKEN || '';
  encryptionKey: process.env['ENCRYPTION_KEY'],
pub smtp_password: Option<String>,
  userPassword: string;
  clientSecret: str | None = None
api_key = data.get("api_key")
parser.add_argument("--root_password", help="root_password for the branch", required=True)
fields = ("username", "email", "client_secret")
<input type="password" [(ngModel)]="apiKey" #pw="ngModel">
password = random_password.report.result
existingSecret: export-credentials
secret "crawler-dev" deleted
CREATE USER svc_app IDENTIFIED BY :db_password;
sed -i "s/^POSTGRES_PASSWORD=.*/POSTGRES_PASSWORD=changeme/" .env.example
mysql -u deploy -p inventory
docker run -e ADMIN_PASSWORD -p 9000:5432 inventory
./convert_order.sh --password-file /etc/scheduler/pw
lukas@10.237.47.134's password:
the password: it must be long
Your password: choose one with at least 12 characters.
// password: at least 8 characters
"password": "Contraseña",
"password_hint": "Use at least 2 characters with a digit"
COMMENT ON COLUMN sessions.secret IS 'hashed, never plain text';
PASS: test_split_frame
key = "ArrowDown"
  password: "%env(DATABASE_PASSWORD)%"
SLACK_TOKEN=xoxb-xxxx-xxxx-xxxx
release_token = web-tls-2
The password is not stored here.
{"key": "sample", "value": 87}
"max_tokens": 5007,
cache_key: user:20
object_key = "docs/chapter/2021-03-13.json"
print -r -- ${PWD:t} ${PWD:h:t}
let token = rpassword::prompt_password("harbour: ")?;
"hashed_secret": "49002950303db514619547b05cf0c5bd954d384f",
docker build --secret id=npmrc,src=$HOME/.npmrc .
api_key=os.environ["OPENAI_API_KEY"]
Authorization: Bearer YOUR_TOKEN
Cache restored from key: harbour-Linux-18b7559b960b7f07299f7e8dec9e753b147a61ed053b4965ed3bdfe622d937d5
seed phrase: write it down and keep it away from the machine for good measure
session_secret: must be set
db_password: the password of the database
alias set to the value of another
secret id of the role: see the vault
last login: pts/0 from 192.0.2.17"#;

#[test]
fn a_chosen_secret_goes_whatever_its_entropy() {
    let rows = include_str!("chosen.table").lines().filter(|line| !line.starts_with('#'));
    let mut missed = Vec::new();
    for row in rows {
        let (text, secret) = row.rsplit_once(" ; ").expect("a text and its secret");
        let around = text.replace("\\n", "\n");
        let clean = Scrubber::default().text(&around.replace("{}", secret)).into_owned();
        let (before, after) = around.split_once("{}").expect("a place for the secret");
        let inner = clean.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        if !inner.is_some_and(|inner| inner.starts_with("<secret:") && inner.matches('>').count() == 1) {
            missed.push(clean);
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn what_only_looks_like_a_chosen_secret_stays() {
    for line in ORDINARY.lines() {
        assert_eq!(Scrubber::default().text(line), line);
    }
    assert_eq!(Scrubber::default().text(ORDINARY), ORDINARY);
}
