import path from 'node:path'
import { EDITOR_SERVER, type EditorToolName } from '../../../src/common/editor-tool-names.ts'
import type { Step } from './model.ts'

export const EDITOR_CALLS: ReadonlyArray<[EditorToolName, Record<string, unknown>]> = [
  ['diagnostics', { files: ['main.ts'] }],
  ['symbols', { query: 'total' }],
  ['document_symbols', { file: 'shapes.ts' }],
  ['definition', { name: 'totalArea', file: 'main.ts' }],
  ['type_definition', { name: 'squares' }],
  ['implementations', { name: 'Shape' }],
  ['references', { name: 'totalArea' }],
  ['hover', { name: 'report' }],
  ['call_hierarchy', { name: 'totalArea' }],
  ['type_hierarchy', { name: 'Shape' }],
  ['open_editors', {}],
  ['selection', {}],
  ['unsaved_text', {}],
  ['open_file', { file: 'main.ts', line: 5 }],
  ['show_diff', { file: 'main.ts', text: 'other' }],
  ['rename_symbol', { name: 'report', new_name: 'summary' }],
  ['code_action', { file: 'main.ts', line: 9 }],
  ['format', { file: 'main.ts' }],
  ['organize_imports', { file: 'main.ts' }],
  ['list_tasks', {}],
  ['run_task', { name: 'test' }],
  ['run_tests', {}],
  ['test_results', {}],
  ['terminal_output', {}],
  ['terminal_selection', {}],
  ['debug_control', { action: 'start', configuration: 'Main' }],
  ['debug_state', { evaluate: 'a' }],
]

/**
 * The model's answers, by the name in double brackets in the latest prompt: `[[edit /workspace]]`. Each step is one
 * answer. The next step follows when the agent has reported the results of its tools.
 */
export const SCENARIOS: Record<string, (workspace: string) => Step[]> = {
  hello: () => [
    {
      text: [
        'Hello ',
        'from the **mock** model. ',
        'Unicode: ',
        'żółć ',
        '日本語 ',
        '👩‍💻 ',
        '— done.\n\n',
        '```js\n',
        'console.log(1)\n',
        '```\n',
      ],
    },
  ],
  full: () => [{ isFull: true }],
  think: () => [{ thoughts: ['Let me ', 'think ', 'about it.'], text: ['Thought ', 'and ', 'answered.'] }],
  edit: workspace => [
    {
      text: ['I will read ', 'the file first.'],
      work: [{ do: 'read', path: path.join(workspace, 'hello.txt') }],
    },
    {
      text: ['Now the edit.'],
      // whole lines, since some agents edit with patches
      work: [
        {
          do: 'edit',
          path: path.join(workspace, 'hello.txt'),
          oldText: 'hello world',
          newText: 'hello ACP',
        },
      ],
    },
    { text: ['Finished ', 'with hello.txt.'] },
  ],
  write: workspace => [
    {
      text: ['Creating a file.'],
      work: [
        { do: 'write', path: path.join(workspace, 'notes', 'new.md'), content: '# New\n\nline two ✓\n' },
      ],
    },
    { text: ['Created ', 'notes/new.md.'] },
  ],
  shell: () => [
    {
      text: ['Running a command.'],
      work: [
        {
          do: 'shell',
          command: 'echo out-line; echo err-line >&2; printf "\\033[31mred\\033[0m\\n"; exit 3',
        },
      ],
    },
    { text: ['Command ', 'finished.'] },
  ],
  tool: () => [
    {
      text: ['Turning it around.'],
      work: [{ do: 'tool', name: 'reverse_text', input: { text: 'żółć PCA' } }],
    },
    { text: ['Turned ', 'around.'] },
  ],
  /** Calls every tool of the editor that needs no answer of the user. */
  editor: () => [
    ...EDITOR_CALLS.map(
      ([name, input]): Step => ({ text: [`Calling ${name}.`], work: [{ do: 'tool', name, input }] }),
    ),
    { text: ['Asked ', 'the editor.'] },
  ],
  /** Asks the user with the editor's tool; some agents have one of that name themselves. */
  ask: () => [
    {
      text: ['I have to know.'],
      work: [
        {
          do: 'tool',
          name: 'ask_user',
          server: EDITOR_SERVER,
          input: { question: 'Which color?', choices: ['red', 'blue'] },
        },
      ],
    },
    { text: ['Now I ', 'know.'] },
  ],
  /** In Claude Code's plan mode. */
  present: () => [
    {
      text: ['I planned.'],
      work: [{ do: 'tool', name: 'ExitPlanMode', input: { plan: '# Plan\n\n1. Look\n2. Change it\n' } }],
    },
    { text: ['Carried ', 'out.'] },
  ],
  plan: () => [
    {
      text: ['Planning.'],
      work: [
        {
          do: 'plan',
          entries: [
            { content: 'Look around', status: 'completed' },
            { content: 'Do the work', status: 'in_progress' },
            { content: 'Check it', status: 'pending' },
          ],
        },
      ],
    },
    { text: ['Plan made.'] },
  ],
  /** A subagent edits a file while the model that started it continues. */
  delegate: workspace => [
    { text: ['Somebody else does it.'], work: [{ do: 'delegate', task: `please [[edit ${workspace}]]` }] },
    { text: ['Handed ', 'over.'] },
  ],
  /** Writes for a minute; meant to be canceled. */
  slow: () => [{ text: Array.from({ length: 600 }, (_, index) => `tick${index} `), pause: 100 }],
  /** Runs a command that ends once a test has created the file `go`. */
  gate: () => [
    {
      text: ['Waiting for a file.'],
      work: [{ do: 'shell', command: 'until [ -e go ]; do sleep 0.1; done' }],
    },
    { text: ['The file is here.'] },
  ],
  /** Runs a command for longer than anyone waits; meant to be canceled. */
  slowshell: () => [
    {
      text: ['Running a slow command.'],
      work: [{ do: 'shell', command: 'echo started; sleep 300; echo never' }],
    },
    { text: ['Slow command ', 'finished.'] },
  ],
}
