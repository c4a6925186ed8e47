//! `@path` in a question attaches a file.

use std::fs;

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries::in_each_shell, keys};

const TOKEN: &str = "glpat-aB3dE5fG7hJ9kL1mN2pQ";

fn home_with_files(server: &ModelServer) -> Home {
    let home = Home::with_model(server);
    for folder in ["app/src", ".ssh"] {
        fs::create_dir_all(home.path(folder)).expect("it can be made");
    }
    home.write("app/src/main.rs", "fn main() {\n    panic!()\n}\n");
    home.write("app/my notes.txt", &format!("token {TOKEN}\n"));
    home.write("app/data.bin", "a\0b");
    home.write(".ssh/id_ed25519", "the key itself\n");
    home
}

#[test]
fn a_named_file_goes_along_with_the_question_and_is_named_in_one_line() {
    in_each_shell(|name| {
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("It panics.")]);
        let home = home_with_files(&server).shell(name);
        let shell = home.cohab();
        shell.run("cd app");
        let shown = shell.ask("why does @src/main.rs fail, ann@example.com asks @someone", "It panics.");
        assert_eq!(shown.matches("attached: src/main.rs, 3 lines").count(), 1, "{}", shell.dump());
        let told = server.wait_for_calls(1)[0].conversation();
        assert!(told.contains("file: src/main.rs\n|      1\tfn main() {\n"), "{told}");
        assert_eq!(told.matches("file: ").count(), 1, "{told}");
        assert!(told.contains("why does @src/main.rs fail, ann@example.com asks @someone"), "{told}");
    });
}

#[test]
fn secrets_stay_binary_files_are_refused_and_folders_are_listed() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("I see.")]);
    let home = home_with_files(&server);
    let shell = home.cohab();
    shell.run("cd app");
    shell.ask("see @\"my notes.txt\", @data.bin and (@src).", "I see.");
    for line in ["attached: my notes.txt, 1 line", "data.bin: is a binary file", "attached: src, 1 entry"] {
        assert!(shell.look(|view| view.shows(line)), "{line}\n{}", shell.dump());
    }
    let told = server.wait_for_calls(1)[0].conversation();
    assert!(told.contains("token <secret:gitlab-token") && !told.contains(TOKEN), "{told}");
    assert!(told.contains("| main.rs\n") && told.contains("is a binary file"), "{told}");
}

#[test]
fn a_secret_place_is_asked_about_as_for_the_model() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("As you like.")]);
    let home = home_with_files(&server);
    let shell = home.cohab();
    let mark = shell.submit("? what is @~/.ssh/id_ed25519");
    shell.wait_approval("id_ed25519");
    shell.outwait_deaf_card();
    shell.send("n");
    shell.wait_text("Reason (optional).");
    shell.send(keys::ENTER);
    let shown = shell.wait_answer(mark, "As you like.");
    assert!(shown.contains("not attached: ~/.ssh/id_ed25519"), "{}", shell.dump());
    let told = server.wait_for_calls(1)[0].conversation();
    assert!(told.contains("(not attached)") && !told.contains("the key itself"), "{told}");
}

#[test]
fn a_script_attaches_files_as_well() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Fine.")]);
    let home = home_with_files(&server);
    let finished = home.run(&["ask", "what is in @app/src/main.rs and @.ssh/id_ed25519"]);
    assert_eq!(finished.stdout, "Fine.\n", "{}", finished.stderr);
    assert!(finished.stderr.contains("cohab: attached: app/src/main.rs, 3 lines\n"), "{}", finished.stderr);
    assert!(finished.stderr.contains("cohab: not attached: .ssh/id_ed25519"), "{}", finished.stderr);
    let told = server.wait_for_calls(1)[0].conversation();
    assert!(told.contains("panic!()") && !told.contains("the key itself"), "{told}");
}

/// A picture of one point, and its start as base64.
const SHOT: (&[u8], &str) = (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "iVBORw0KGgoAAAANSUhEUg");

#[test]
fn an_image_goes_to_the_model_on_every_wire() {
    for wire in Wire::ALL {
        let server = ModelServer::start(wire, [Answer::text("A point.")]);
        let home = Home::with_model(&server);
        fs::write(home.path("my shot.png"), SHOT.0).expect("an image");
        let shell = home.cohab();
        shell.ask("look at @\"my shot.png\"", "A point.");
        assert!(shell.look(|view| view.shows("attached: my shot.png, image/png, 1 kB")), "{}", shell.dump());
        let body = server.wait_for_calls(1)[0].body.to_string();
        assert_eq!(body.matches(SHOT.1).count(), 1, "{wire:?} {body}");
    }
}

#[test]
fn an_image_that_the_service_refuses_does_not_end_the_conversation() {
    let refusal = Answer::status(400, "this model takes no images");
    let server =
        ModelServer::start(Wire::OpenAiChat, [refusal, Answer::text("I see none."), Answer::text("Still here.")]);
    let home = Home::with_model(&server);
    fs::write(home.path("shot.png"), SHOT.0).expect("an image");
    let shell = home.cohab();
    shell.ask("look at @shot.png", "I see none.");
    shell.wait_text("did not take shot.png, the question goes without");
    shell.ask("and now", "Still here.");
    let calls = server.wait_for_calls(3);
    assert!(calls[1..].iter().all(|call| !call.body.to_string().contains(SHOT.1)));
}

#[test]
fn a_script_shows_images_and_is_told_what_is_none() {
    let server = ModelServer::start(Wire::Anthropic, [Answer::text("A point.")]);
    let home = Home::with_model(&server);
    fs::write(home.path("my 'shot'.png"), SHOT.0).expect("an image");
    home.write("notes.txt", "text");
    let answered = home.run(&["ask", "--image", "my 'shot'.png", "what is this"]);
    assert!(answered.stdout.contains("A point."), "{} {}", answered.stdout, answered.stderr);
    assert!(server.wait_for_calls(1)[0].body.to_string().contains(SHOT.1));
    let refused = home.run(&["ask", "--image", "notes.txt", "what is this"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("--image notes.txt: neither PNG, JPEG, GIF, WebP nor PDF"), "{}", refused.stderr);
}
