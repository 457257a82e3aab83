//! `fpdb help`: explains a command, or lists the limits on what is read.

use crate::output::{Output, print};
use crate::run_status::RunStatus;
use crate::typed::{self, Global, HelpArgs};

pub(crate) fn run(global: &Global, args: &HelpArgs) -> anyhow::Result<RunStatus> {
    let mut command = typed::parser();
    command.build();
    let help = match args.topic.as_deref() {
        None => command.render_long_help(),
        Some("limits") => {
            print(global, &typed::limits_page())?;
            return Ok(RunStatus::Done);
        }
        Some(topic) => match command.find_subcommand_mut(topic) {
            Some(verb) => verb.render_long_help(),
            None => anyhow::bail!(
                "there is no help on {topic}; `fpdb help` lists the commands, and `fpdb help limits` the limits"
            ),
        },
    };
    let mut output = Output::open(global)?;
    let text = if output.style.colour { help.ansi().to_string() } else { help.to_string() };
    output.text(&text)?;
    output.finish()?;
    Ok(RunStatus::Done)
}
