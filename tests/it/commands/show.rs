//! `fpdb show --text`: the text to which the offsets of passages refer.

use crate::bad_input::prose;
use crate::pdf_pages::pdf;
use crate::support::{Folder, Run};

#[test]
fn the_text_of_a_document_is_written_as_it_is() {
    let folder = Folder::new();
    let utf16: Vec<u8> = "\u{feff}Wie schön".encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.write("in/plain.txt", "no line end");
    folder.write("in/wide.txt", utf16);
    folder.write("in/page.pdf", pdf(&[vec!["A page of text".to_owned()]]));
    folder.write("in/chats.jsonl", "{\"text\": \"caf\\u00e9\"}\n{\"text\": \"other\"}\n");
    folder.ok(&["ingest", "-q", "in"]);

    assert_eq!(folder.ok(&["show", "--text", "in/plain.txt"]).stdout, "no line end");
    assert_eq!(folder.ok(&["show", "--text", "in/chats.jsonl:1", "in/plain.txt"]).stdout, "caféno line end");
    assert_eq!(folder.ok(&["show", "--text", "in/page.pdf"]).stdout.trim(), "A page of text");
    folder.ok(&["show", "--text", "in/wide.txt", "-o", "copy"]);
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(bytes("copy"), bytes("in/wide.txt"));

    let run = folder.run(&["show", "--text", "in/plain.txt", "--format", "json"]);
    assert!(run.status == 2 && run.stderr.contains("leave out --format"), "{run:?}");
}

#[test]
fn a_text_that_is_gone_is_an_error_and_the_others_are_written() {
    let folder = Folder::new();
    folder.write("kept.txt", prose(1));
    folder.ok(&["ingest", "-q", "--store-text", "kept.txt"]);
    for (name, number) in [("gone.txt", 2), ("changed.txt", 3), ("here.txt", 4)] {
        folder.write(name, prose(number));
    }
    folder.ok(&["ingest", "-q", "gone.txt", "changed.txt", "here.txt"]);
    folder.write("changed.txt", "something else");
    for name in ["kept.txt", "gone.txt"] {
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }

    let run = folder.run(&["show", "--text", "gone.txt", "kept.txt", "changed.txt", "here.txt"]);
    assert_eq!((run.status, run.stdout), (2, prose(1) + &prose(4)));
    for name in ["gone.txt", "changed.txt"] {
        let said = format!("{name}: its text is not stored (ingest --store-text), and its file is gone, has changed ");
        assert!(run.stderr.contains(&said), "{}", run.stderr);
    }
    let input = std::fs::File::open(folder.path().join("here.txt")).unwrap();
    assert!(folder.command(&["ingest", "-q", "-"]).stdin(input).status().unwrap().success());
    let run = folder.run(&["show", "--text", "-"]);
    let said = "error: -: its text is not stored (ingest --store-text), and it was read from no file\n";
    assert_eq!((run.status, run.stderr.as_str()), (2, said));
}

#[test]
fn a_path_from_another_folder_leads_to_the_stored_name() {
    let folder = Folder::new();
    folder.write("leak/mail/zoe.txt", prose(1));
    folder.write("leak/mail/box.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n");
    folder.ok(&["ingest", "-q", "leak"]);
    let absolute = folder.path().join("leak/mail/box.jsonl:2");
    for (typed, stored) in [
        ("./zoe.txt", "leak/mail/zoe.txt"),
        ("../mail/zoe.txt", "leak/mail/zoe.txt"),
        ("./box.jsonl:1", "leak/mail/box.jsonl:1"),
        (absolute.to_str().unwrap(), "leak/mail/box.jsonl:2"),
    ] {
        let mut command = folder.command(&["show", typed]);
        let run = Run::to_its_end(command.current_dir(folder.path().join("leak/mail")));
        assert!(run.status == 2 && run.stderr.contains(&format!("the nearest name is {stored}")), "{typed}: {run:?}");
    }
    let typed = folder.path().join("leak/mail");
    let run = folder.run(&["pairs", "--submission-by", typed.to_str().unwrap()]);
    assert!(run.status == 2 && run.stderr.contains("did you mean leak/mail/?"), "{run:?}");
}
