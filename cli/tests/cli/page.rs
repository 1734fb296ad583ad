//! `--report FILE.html`.

use super::{bochner, digits, here};
use std::fs;

/// A page per command, each with the picture of what it found, and nothing from elsewhere.
#[test]
fn commands_write_pages_with_their_pictures() {
    let here = here();
    let digits = digits();
    let fit = format!("fit {digits} --target label --device cpu --features 32");
    let search = format!("{fit} --kernel auto --metric diagonal --budget 4 --quiet");
    let all = [
        (
            format!("{fit} --lambda auto"),
            "<h2>Penalty</h2>",
            "polyline",
        ),
        (search.clone(), "<h2>What was tried</h2>", "<circle"),
        (
            format!("{fit} --metric diagonal --quiet"),
            "<h2>Importance of columns</h2>",
            "<rect",
        ),
        (
            format!(
                "kernel-error {digits} --target label --device cpu --rows 100 --features 20,40 \
                 --seeds 2"
            ),
            "<h2>Error by features</h2>",
            "polyline",
        ),
    ];
    for (command, heading, mark) in all {
        let report = bochner(
            here.path(),
            &format!("{command} --json --report p.html"),
            &[],
        );
        // What programs read is as it was, and on the page.
        let report = report.json();
        let page = fs::read_to_string(here.path().join("p.html")).expect("a page");
        assert!(
            page.contains(heading) && page.contains(mark),
            "{command}: {page}"
        );
        assert!(page.ends_with("</html>\n") && page.matches("<svg").count() >= 1);
        assert!(!page.contains("http") && !page.contains("NaN"), "{page}");
        let device = report["device"].as_str().expect("a device");
        assert!(page.contains(device), "{page}");
    }
    // Fits that search name the command that does not.
    bochner(here.path(), &format!("{search} --report p.html"), &[]).ok();
    let page = fs::read_to_string(here.path().join("p.html")).expect("a page");
    assert!(page.contains("The same without searching"), "{page}");
}

/// Where a page cannot be written is said before any work, and no input becomes a page.
#[test]
fn pages_are_outputs_like_others() {
    let here = here();
    fs::write(
        here.path().join("t.csv"),
        "a,b,label\n1,2,0\n3,4,1\n5,7,1\n",
    )
    .expect("a table");
    let run = |arguments: &str| bochner(here.path(), arguments, &[]);
    let fit = "fit t.csv --target label --device cpu -q --features 8";
    run(&format!("{fit} -o m.model")).ok();
    for command in [
        fit,
        "evaluate m.model t.csv --target label",
        "predict m.model t.csv -o p.csv",
        "featurize t.csv -o z.npy --features 4",
        "kernel-error t.csv --features 4 --rows 3",
        "drift t.csv t.csv",
        "independence t.csv --x a --y b",
    ] {
        run(&format!("{command} --report t.csv")).fails(&["t.csv", "would be replaced"]);
        run(&format!("{command} --report none/p.html")).fails(&["none", "no directory"]);
    }
    run("merge a.part b.part -o m.model --report a.part").fails(&["a.part"]);
    run(&format!("{fit} -o m.model --report m.model")).fails(&["m.model", "two outputs"]);
}
