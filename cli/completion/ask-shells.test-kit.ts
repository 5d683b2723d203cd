import { spawnSync } from 'node:child_process';

/** What `pigeonpost completion names` says in a shell of a test. */
const names = '\'%s\\n\' "$KIND"-one "$KIND"-two sink:hooks sink:crm';

/** What fish offers at the end of each line, without its descriptions. @param script holds the completion */
export function askFish(script: string, lines: readonly string[], cwd: string): string[][] {
  const text = [
    `source ${script}`,
    'function pigeonpost',
    `  if test "$argv[2]" = names; set KIND $argv[3]; printf ${names}; end`,
    'end',
    'for line in $argv',
    `  echo "<"(complete -C $line | string replace -r '\\t.*' '' | string join ' ' | string collect --allow-empty)">"`,
    'end',
  ].join('\n');
  return answersIn(run('fish', ['--no-config', '-c', text, ...lines], cwd));
}

/**
 * What zsh offers at the end of each line. It completes at a terminal alone, so one zsh types the lines into another, in
 * which a key prints what every `compadd` has found instead of showing it.
 */
export function askZsh(script: string, lines: readonly string[], cwd: string): string[][] {
  const inside = [
    "PROMPT=''; stty -echo; autoload -Uz compinit && compinit -u -D",
    `pigeonpost() { if [[ "$2" == names ]]; then KIND=$3; printf ${names}; fi }`,
    `source ${script}`,
    'compadd() { local -a fit; case " $* " in (*" "-[OAD]" "*) ;; (*) builtin compadd -A fit "$@"; all_found+=("${fit[@]}") ;; esac; builtin compadd "$@" }',
    // In two parts: what is typed here may be echoed, and is no answer.
    'tell() { print -r -- "<""${(j: :)${(u)all_found}}"">"; all_found=(); compstate[insert]=""; compstate[list]="" }',
    'offer() { all_found=(); comppostfuncs=(tell); _main_complete }',
    "zle -C offer complete-word offer; bindkey '^T' offer",
    'print -r -- READY""NOW',
  ];
  const outside = [
    'zmodload zsh/zpty',
    'hear() { local part; said=""; repeat 200; do if zpty -rt z part; then said+=$part; else sleep 0.05; fi; [[ $said == *${~1}* ]] && return; done; print -ru2 -- "no answer: ${(q)said}"; exit 1 }',
    'zpty -b z zsh -f -i',
    ...inside.map((line) => `zpty -w z ${quoted(line)}`),
    'hear READYNOW',
    'for line in "$@"; do',
    `  zpty -w -n z "$line"$'\\x14'; hear '<*>'; print -r -- "<\${\${said##*<}%%>*}>"; zpty -w -n z $'\\x15'`,
    'done',
    'zpty -d z',
  ].join('\n');
  return answersIn(run('zsh', ['-f', '-c', outside, 'zsh', ...lines], cwd));
}

function run(shell: string, args: readonly string[], cwd: string): string {
  const done = spawnSync(shell, args, { cwd, encoding: 'utf8', timeout: 120_000 });
  if (done.status === 0 && done.stderr === '') return done.stdout;
  throw new Error(`${shell} ended with ${done.status ?? done.signal}: ${done.stderr}`);
}

function answersIn(text: string): string[][] {
  return [...text.matchAll(/^<(.*)>$/gm)].map(([, words]) => words!.split(' ').filter((word) => word !== ''));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
