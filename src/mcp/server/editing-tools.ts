import { setImmediate } from 'node:timers/promises'
import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type { FileChange } from '../../acp/model.ts'
import type { EditorToolName } from '../../common/editor-tool-names.ts'
import { applyChanges } from './apply-changes.ts'
import type { FileEdit, ProposedAction, Span, TextChange } from './editor-features.ts'
import { fileInput, findSymbol, lineInput, nameAt, symbolInput } from './find-symbol.ts'
import { tool } from './reading-tools.ts'
import { withSettledProblems } from './settled-problems.ts'
import { changedLines, lineAt, linesIn } from './text-lines.ts'
import type { ToolAnswer, ToolContext } from './tool.ts'
import { ToolError } from './tool-error.ts'

/** Maximum number of files that one call may change. */
const MAX_FILES = 500
/** Changes of text that one call may make. */
const MAX_CHANGES = 50_000
/** Lines that the answer names. */
const MAX_LISTED = 20

interface ChangedText {
  path: string
  oldText: string
  newText: string
}

const renameSymbol = tool({
  name: 'rename_symbol',
  title: 'Rename symbol',
  description:
    'Renames a symbol everywhere in the workspace, as the language server does: its declaration and all uses, and nothing else that has the same name. Use it instead of replacing text. Name the symbol, or give its position. The user may be asked.',
  input: z.object({ ...symbolInput, new_name: z.string().min(1).max(500) }),
  async run({ new_name, ...symbol }, context) {
    const { path, at } = await findSymbol(symbol, context)
    const edits = await context.features.rename(path, at, new_name)
    const { text } = await context.features.open(path)
    const old = nameAt(text, at)
    const title =
      old === undefined
        ? l10n.t('Rename a symbol to {0}', new_name)
        : l10n.t('Rename {0} to {1}', old, new_name)
    return change('rename_symbol', title, edits, context)
  },
})

const codeAction = tool({
  name: 'code_action',
  title: 'Code action',
  description:
    'Lists the quick fixes and refactorings that the editor offers for lines of a file, or applies one of them: call it without "apply" first, then with the title of the action. The user may be asked before it is applied.',
  input: z.object({
    file: fileInput,
    line: lineInput.describe('From 1'),
    end_line: lineInput.optional().describe('Default: the same line'),
    column: lineInput.optional().describe('Default: the whole line'),
    kind: z
      .string()
      .max(200)
      .optional()
      .describe('Only actions of this kind, such as "quickfix", "refactor.extract", "source.fixAll"'),
    apply: z.string().max(1000).optional().describe('The title of the action to apply'),
  }),
  async run({ file, line, end_line, column, kind, apply }, context) {
    const { features, roots, signal } = context
    const path = await roots.file(file)
    const { text } = await features.open(path)
    const end = Math.max(line, end_line ?? line)
    const last = lineAt(text, end)
    if (last === undefined) throw new ToolError(`The file has only ${linesIn(text)} lines.`)
    const span: Span =
      column === undefined
        ? { start: { line, column: 1 }, end: { line: end, column: last.length + 1 } }
        : { start: { line, column }, end: { line: end, column } }
    // quick fixes are for problems, which languages must have reported
    const actions = await withSettledProblems(features, [path], signal, () =>
      features.actions(path, span, kind),
    )
    if (apply === undefined) return listed(actions)
    const action = actions.find(({ title }) => title === apply.trim())
    if (!action) throw new ToolError('There is no action with that title here now.', actions.map(actionText))
    if (action.disabled !== undefined) throw new ToolError("The action can't be used now.", [action.disabled])
    if (action.refusal !== undefined) throw new ToolError(action.refusal)
    if (!action.edit)
      throw new ToolError(
        "The action runs a command of the editor, which tools can't do. Edit the file instead.",
      )
    const answer = await change('code_action', action.title, action.edit, context)
    if (!action.hasCommand) return answer
    const note =
      'The action would also run a command of the editor, which was left out: check whether something is missing.'
    return { ...answer, text: `${note} ${answer.text}` }
  },
})

function listed(actions: readonly ProposedAction[]): ToolAnswer {
  const usable = actions.filter(({ edit, disabled }) => edit && disabled === undefined)
  if (usable.length === 0) return { text: 'The editor offers nothing to apply here.' }
  return { text: 'Call again with "apply" and one of these titles:', data: usable.map(actionText) }
}

function actionText({ title, kind, isPreferred }: ProposedAction): string {
  const notes = [kind, isPreferred ? 'preferred' : ''].filter(Boolean).join(', ')
  return notes === '' ? title : `${title} (${notes})`
}

const format = tool({
  name: 'format',
  title: 'Format',
  description:
    'Formats a file, or some lines of it, with the formatter that the user has set up in the editor. The user may be asked.',
  input: z.object({
    file: fileInput,
    line: lineInput.optional().describe('Only from this line'),
    end_line: lineInput.optional().describe('Only to this line'),
  }),
  async run({ file, line, end_line }, context) {
    const { features, roots } = context
    const path = await roots.file(file)
    const { text } = await features.open(path)
    let span: Span | undefined
    if (line !== undefined || end_line !== undefined) {
      const count = linesIn(text)
      const start = Math.min(line ?? 1, count)
      const end = Math.min(Math.max(start, end_line ?? count), count)
      span = { start: { line: start, column: 1 }, end: { line: end, column: lineAt(text, end)!.length + 1 } }
    }
    const changes = await features.format(path, span)
    if (changes.length === 0)
      return { text: 'Nothing to change: the file is formatted, or the editor has no formatter for it.' }
    return change('format', l10n.t('Format {0}', roots.name(path)), [{ path, changes }], context)
  },
})

const organizeImports = tool({
  name: 'organize_imports',
  title: 'Organize imports',
  description:
    'Removes unused imports of a file and sorts the rest, as the language server does. The user may be asked.',
  input: z.object({ file: fileInput }),
  async run({ file }, context) {
    const { features, roots } = context
    const path = await roots.file(file)
    const { text } = await features.open(path)
    const whole = {
      start: { line: 1, column: 1 },
      end: { line: linesIn(text), column: text.length - text.lastIndexOf('\n') },
    }
    const actions = await features.actions(path, whole, 'source.organizeImports')
    const action = actions.find(({ edit, disabled }) => edit && disabled === undefined)
    const refused = actions.find(({ refusal, disabled }) => refusal !== undefined && disabled === undefined)
    if (!action && refused) throw new ToolError(refused.refusal!)
    if (!action?.edit) return { text: "Nothing to change, or the file's language can't organize imports." }
    return change(
      'organize_imports',
      l10n.t('Organize imports in {0}', roots.name(path)),
      action.edit,
      context,
    )
  },
})

export const editingTools = [renameSymbol, codeAction, format, organizeImports]

/** Asks for the edits, and writes the files as the agent would. */
async function change(
  name: EditorToolName,
  title: string,
  edits: readonly FileEdit[],
  context: ToolContext,
): Promise<ToolAnswer> {
  const { roots, signal } = context
  const texts = await changedTexts(edits, context)
  if (texts.length === 0) return { text: 'Nothing to change.' }
  const changes = texts.map(
    ({ path, oldText, newText }): FileChange => ({ operation: 'modify', path, oldText, newText }),
  )
  const conversation = await context.conversation()
  await conversation.permitted({ tool: name, title, kind: 'edit', changes }, signal, async () => {
    // the user may have taken a while
    for (const { path, oldText } of texts) {
      const { text } = await context.features.open(path)
      if (text !== oldText)
        throw new ToolError(`${roots.name(path)} has changed meanwhile, so nothing was done. Call again.`)
    }
    const done: string[] = []
    for (const { path, newText } of texts) {
      try {
        await conversation.write(path, newText, signal)
        done.push(path)
      } catch (error) {
        if (done.length === 0) throw error
        const written = done.map(one => roots.name(one))
        throw new ToolError(
          `Only ${done.length} of ${texts.length} files were changed, then ${roots.name(path)} couldn't be written.`,
          [error instanceof Error ? error.message : String(error), 'Changed:', ...written],
        )
      }
    }
  })
  const data: string[] = []
  for (const one of texts) {
    data.push(changedText(one, roots.name(one.path)))
    // the files may be long
    await setImmediate()
  }
  return {
    text: texts.length === 1 ? 'Changed and saved 1 file:' : `Changed and saved ${texts.length} files:`,
    data,
  }
}

async function changedTexts(
  edits: readonly FileEdit[],
  { features, roots }: ToolContext,
): Promise<ChangedText[]> {
  const byPath = new Map<string, TextChange[]>()
  const count = edits.reduce((sum, { changes }) => sum + changes.length, 0)
  if (count > MAX_CHANGES) throw new ToolError(`It would make ${count} changes, which is too much.`)
  for (const { path, changes } of edits) {
    const known = byPath.get(path)
    if (known) known.push(...changes)
    else byPath.set(path, [...changes])
  }
  if (byPath.size > MAX_FILES) throw new ToolError(`It would change ${byPath.size} files, which is too much.`)
  const texts: ChangedText[] = []
  for (const [path, changes] of byPath) {
    if (!(await roots.has(path)))
      throw new ToolError(
        'It would change a file outside of the folders of this session, so nothing was done.',
        [path],
      )
    const { text: oldText } = await features.open(path)
    const newText = applyChanges(oldText, changes)
    if (newText !== oldText) texts.push({ path, oldText, newText })
  }
  return texts
}

/** `src/a.ts:3, 7` names the first lines that changed, and is a link to the first of them. */
function changedText({ oldText, newText }: ChangedText, name: string): string {
  const changed = changedLines(oldText, newText, MAX_LISTED + 1)
  return `${name}:${changed.slice(0, MAX_LISTED).join(', ')}${changed.length > MAX_LISTED ? ' and more' : ''}`
}
