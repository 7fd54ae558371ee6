import { isDeepStrictEqual } from 'node:util'
import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type { ElicitationField } from '../../acp/model.ts'
import type { TaskInfo } from './editor-features.ts'
import { fileInput, lineInput, offsetInput } from './find-symbol.ts'
import { at, tool } from './reading-tools.ts'
import { TaskReferences, taskText, unclearTasks } from './seen-tasks.ts'
import type { ToolContext } from './tool.ts'
import { ToolError } from './tool-error.ts'

/** How long a call waits for a task by default, and at most. Seconds. */
export const TASK_SECONDS = 120
const MAX_TASK_SECONDS = 1800
/** Maximum number of lines of a task's output; the last ones are used. */
const MAX_TASK_LINES = 200
/** Characters of a proposed text. */
const MAX_TEXT = 1_500_000

const openFile = tool({
  name: 'open_file',
  title: 'Open file',
  description:
    'Shows a file to the user in the editor, at a line. Use it when the user asks to see something.',
  input: z.object({ file: fileInput, line: lineInput.optional(), column: lineInput.optional() }),
  async run({ file, line, column }, { features, roots }) {
    const path = await roots.file(file)
    await features.show(path, line === undefined ? undefined : { line, column: column ?? 1 })
    return { text: `The editor shows ${roots.name(path)}${line === undefined ? '' : `:${line}`}.` }
  },
})

const showDiff = tool({
  name: 'show_diff',
  title: 'Show diff',
  description:
    'Shows the user a diff between a file as it is and a text, without changing anything. Use it to discuss a change before making it.',
  input: z.object({
    file: fileInput,
    text: z.string().max(MAX_TEXT).describe('The whole text to compare the file with'),
    title: z.string().max(200).optional(),
  }),
  async run({ file, text, title }, { features, roots }) {
    const path = await roots.file(file)
    const { text: oldText } = await features.open(path)
    await features.showDiff(
      path,
      { oldText, newText: text },
      title ?? l10n.t('{0} (proposed)', roots.name(path)),
    )
    return { text: `The editor shows the diff of ${roots.name(path)}. Nothing was changed.` }
  },
})

const askUser = tool({
  name: 'ask_user',
  title: 'Ask the user',
  description:
    "Asks the user a question in the conversation and waits for the answer: one of your choices, or a text. Use it when you can't go on without a decision.",
  input: z.object({
    question: z.string().min(1).max(4000),
    choices: z.array(z.string().min(1).max(500)).min(2).max(20).optional(),
    several: z.boolean().optional().describe('The user may choose several'),
  }),
  async run({ question, choices, several }, context) {
    const conversation = await context.conversation()
    const base = { key: 'answer', title: l10n.t('Answer'), required: true }
    const values = [...new Set(choices)].map(value => ({ value, title: value }))
    const field: ElicitationField =
      choices === undefined
        ? { ...base, type: 'text', minLength: 1 }
        : several
          ? { ...base, type: 'multi_select', choices: values, minItems: 1 }
          : { ...base, type: 'select', choices: values }
    const outcome = await conversation.elicit(
      { mode: 'form', message: question, fields: [field] },
      context.signal,
    )
    if (outcome.action !== 'accept')
      throw new ToolError("The user didn't answer. Go on without an answer, or stop.")
    const answer = outcome.content?.answer
    return { text: `The user answered: ${Array.isArray(answer) ? answer.join(', ') : String(answer ?? '')}` }
  },
})

const listTasks = tool({
  name: 'list_tasks',
  title: 'Tasks',
  description:
    'The tasks that the workspace defines (tasks.json) or that the editor finds (npm scripts, …), with what they run.',
  input: z.object({ offset: offsetInput }),
  async run({ offset }, { features }) {
    const tasks = await features.tasks()
    const data = tasks.map(({ name, source, folder, group, command, detail }) => {
      const notes = [source, folder, group, command ?? detail].filter(Boolean).join(', ')
      return `${name} (${notes})`
    })
    return { text: data.length === 0 ? 'The workspace has no tasks.' : undefined, data, ...at(offset) }
  },
})

export const secondsInput = z
  .number()
  .int()
  .min(1)
  .max(MAX_TASK_SECONDS)
  .optional()
  .describe(`How long to wait. Default: ${TASK_SECONDS}`)

const runTask = tool({
  name: 'run_task',
  title: 'Run task',
  description:
    'Runs a task of "list_tasks" in the editor\'s terminal, where the user sees it, and waits for its exit code, and the end of its output if it runs in a shell. The user is asked, unless a rule allows it. Its problems are in "diagnostics" afterward.',
  input: z.object({
    name: z.string().min(1).max(500),
    source: z.string().max(200).optional().describe('Needed if several tasks have that name'),
    folder: z.string().max(4096).optional().describe('Needed if tasks of several folders have that name'),
    seconds: secondsInput,
  }),
  async run({ name, source, folder, seconds = TASK_SECONDS }, context) {
    const tasks = await context.features.tasks()
    const named = tasks.filter(
      one =>
        one.name === name &&
        (source === undefined || one.source === source) &&
        (folder === undefined || one.folder === folder),
    )
    const [task, ...others] = named
    if (!task) throw new ToolError('There is no such task. Call "list_tasks".')
    if (others.length > 0)
      throw new ToolError(
        'Several tasks have that name. Call again with "source", and with "folder" if there is one.',
        named.map(one => [one.source, one.folder].filter(Boolean).join(', ')),
      )
    return runSeenTask('run_task', task, seconds, context)
  },
})

/** Runs a task that the user has seen and allowed, and returns how it ended and the end of its output. */
export async function runSeenTask(
  tool: 'run_task' | 'run_tests',
  task: TaskInfo,
  seconds: number,
  context: ToolContext,
): Promise<{ text: string; data: string[] }> {
  const { features, signal } = context
  const references = new TaskReferences(await features.tasks())
  const before = references.before([task])
  const unclear = unclearTasks([task, ...before])
  if (unclear.length > 0)
    throw new ToolError("The user can't see what it would run, so nothing was run.", unclear)
  const conversation = await context.conversation()
  const code = taskText(task, before, references)
  const permission = {
    ...{ tool, title: l10n.t('Run the task {0}', task.name), kind: 'execute' as const },
    ...(code !== '' && { code }),
  }
  const {
    exitCode,
    ended,
    output = '',
  } = await conversation.permitted(permission, signal, async () => {
    // the user has seen these tasks, and their files may have been edited since
    const now = await features.tasks()
    const own = now.find(one => isDeepStrictEqual(one, task))
    if (!own || !isDeepStrictEqual(new TaskReferences(now).before([own]), before))
      throw new ToolError('The task has changed meanwhile, so nothing was run. Call again.')
    return features.runTask(task, seconds * 1000, signal)
  })
  const data = output.trim() === '' ? [] : output.trimEnd().split('\n').slice(-MAX_TASK_LINES)
  const text =
    exitCode !== undefined
      ? `The task ended with exit code ${exitCode}.`
      : ended
        ? 'The task ended.'
        : `The task still runs after ${seconds} seconds. The user sees it in the terminal.`
  return { text, data }
}

const terminalOutput = tool({
  name: 'terminal_output',
  title: 'Terminal output',
  description:
    "The last command of the user's terminals with its output and exit code: for 'why did that fail?'. The user is asked once for each session.",
  input: z.object({
    terminal: z
      .string()
      .max(200)
      .optional()
      .describe('The name of the terminal. Default: that of the last command'),
    offset: offsetInput,
  }),
  async run({ terminal, offset }, context) {
    await allowedOnce(
      'terminal_output',
      l10n.t("Read your terminals' output for the rest of this session"),
      context,
    )
    const all = await context.features.terminalCommands()
    const commands = all.filter(one => terminal === undefined || one.terminal === terminal)
    const [last] = commands
    if (!last)
      return {
        text: 'No command has run in a terminal with shell integration since Parley started its editor tools in this window.',
      }
    const { isRunning, exitCode } = last
    const state = isRunning
      ? 'It still runs.'
      : exitCode === undefined
        ? 'It ended.'
        : `It ended with exit code ${exitCode}.`
    return {
      text: state,
      data: [`${last.cwd ?? ''}$ ${last.command}`, ...last.output.split('\n')],
      ...at(offset),
    }
  },
})

const terminalSelection = tool({
  name: 'terminal_selection',
  title: 'Terminal selection',
  description:
    "The text that the user has selected in the active terminal, for 'what does this mean?'. The user is asked once for each session. VS Code gives it only through the clipboard, whose text is put back afterward.",
  input: z.object({ offset: offsetInput }),
  async run({ offset }, context) {
    await allowedOnce(
      'terminal_selection',
      l10n.t('Read what you select in terminals for the rest of this session'),
      context,
    )
    const selected = await context.features.terminalSelection()
    if (!selected) return { text: 'Nothing is selected in the active terminal.' }
    return { text: 'The selection:', data: selected.text, ...at(offset) }
  },
})

/** Asks unless the user has allowed this for the whole session. */
async function allowedOnce(
  tool: 'terminal_output' | 'terminal_selection',
  title: string,
  context: ToolContext,
): Promise<void> {
  const { allowed, signal } = context
  if (allowed.has(tool)) return
  const conversation = await context.conversation()
  await conversation.permitted({ tool, title, kind: 'other' }, signal, async () => {
    allowed.add(tool)
  })
}

export const windowTools = [
  openFile,
  showDiff,
  askUser,
  listTasks,
  runTask,
  terminalOutput,
  terminalSelection,
]
