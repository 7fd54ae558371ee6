import { randomUUID } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { ActivePrompt } from '../../app/conversation/active-prompt.ts'
import { type CommandHandlers, CommandId } from '../../app/ids.ts'
import { UnavailableError } from '../../common/errors.ts'
import { shortened } from '../../common/visible.ts'
import type { Attachment } from '../../conversation/attachment.ts'
import { linesAttachment, selectionAttachment, terminalAttachment } from '../mentions/attachments.ts'
import { menuAttachments } from '../mentions/menu-context.ts'
import { problemsText, toProblem } from '../mentions/sources.ts'
import { readSetting } from '../settings.ts'

/** Returns the commands that add content of the editor to the active conversation, from menus, keys and the palette. */
export function contextCommands(prompt: ActivePrompt) {
  const attach = async (attachments: readonly Attachment[], none: string) => {
    if (attachments.length === 0) throw new UnavailableError(none)
    await prompt.add(attachments)
  }
  return {
    [CommandId.addSelection]: () => {
      const selection = selectionAttachment()
      return attach(selection ? [selection] : [], l10n.t('Select text in an editor first.'))
    },
    [CommandId.addTerminalSelection]: async () => {
      const selection = await terminalAttachment()
      return attach(selection ? [selection] : [], l10n.t('Select text in the terminal first.'))
    },
    [CommandId.addFile]: async (...args) =>
      attach(
        await menuAttachments(args.length > 0 ? args : activeFile()),
        l10n.t('Open or select a file on this machine first.'),
      ),
    [CommandId.addToConversation]: async (...args) =>
      attach(
        await menuAttachments(args),
        l10n.t("There's nothing here that can be added to the conversation."),
      ),
  } satisfies Partial<CommandHandlers>
}

function activeFile(): vscode.Uri[] {
  const active = vscode.window.tabGroups.activeTabGroup.activeTab?.input
  if (active instanceof vscode.TabInputText || active instanceof vscode.TabInputCustom) return [active.uri]
  const document = vscode.window.activeTextEditor?.document
  return document ? [document.uri] : []
}

interface CodeRange {
  document: vscode.TextDocument
  range: vscode.Range
}

/**
 * Returns *Fix with Parley* and *Explain with Parley*, which write a prompt about the subject of a code action, else about
 * the problems at the cursor or the selection. By default, the prompt is added to the draft; if the setting says so, it's
 * sent: then the draft stays, and the prompt is queued if a turn is running.
 */
export function codeCommands(prompt: ActivePrompt) {
  const send = (text: string, items: Attachment[]) =>
    readSetting('sendCodeActions') ? prompt.send(items, text) : prompt.add(items, text)
  return {
    [CommandId.fix]: async (uri?: unknown, range?: unknown) => {
      const code = await codeAt(uri, range)
      const problems = problemsAt(code)
      if (problems.length === 0) throw new UnavailableError(l10n.t('There are no problems at the cursor.'))
      const text = problems.length === 1 ? l10n.t('Fix this problem.') : l10n.t('Fix these problems.')
      await send(text, [codeChip(code, problems), problemsChip(code, problems)])
    },
    [CommandId.explain]: async (uri?: unknown, range?: unknown) => {
      const code = await codeAt(uri, range)
      const problems = problemsAt(code)
      if (problems.length > 0) {
        const text =
          problems.length === 1 ? l10n.t('Explain this problem.') : l10n.t('Explain these problems.')
        return send(text, [codeChip(code, problems), problemsChip(code, problems)])
      }
      if (code.range.isEmpty)
        throw new UnavailableError(l10n.t('Select code, or move the cursor to a problem.'))
      return send(l10n.t('Explain this code.'), [codeChip(code, [])])
    },
  } satisfies Partial<CommandHandlers>
}

async function codeAt(uri: unknown, range: unknown): Promise<CodeRange> {
  if (uri instanceof vscode.Uri && range instanceof vscode.Range)
    return { document: await vscode.workspace.openTextDocument(uri), range }
  const editor = vscode.window.activeTextEditor
  if (!editor) throw new UnavailableError(l10n.t('Open a file in an editor first.'))
  return { document: editor.document, range: editor.selection }
}

/** Returns the problems in the range, the most severe first; hints and information only if there are no others. */
function problemsAt({ document, range }: CodeRange): vscode.Diagnostic[] {
  const here = vscode.languages
    .getDiagnostics(document.uri)
    .filter(problem => problem.range.intersection(range) !== undefined)
  const serious = here.filter(({ severity }) => severity <= vscode.DiagnosticSeverity.Warning)
  return serious.length > 0 ? serious : here
}

function codeChip({ document, range }: CodeRange, problems: readonly vscode.Diagnostic[]): Attachment {
  const whole = problems.reduce((all, problem) => all.union(problem.range), range)
  // A selection that ends before the first character of a line doesn't include that line.
  const isBefore = whole.end.character === 0 && whole.end.line > whole.start.line
  return linesAttachment(document.uri, whole.start.line + 1, whole.end.line + (isBefore ? 0 : 1))
}

/** Returns an attachment with the problems that the user sees now, since they may differ when the turn starts. */
function problemsChip({ document }: CodeRange, problems: readonly vscode.Diagnostic[]): Attachment {
  const text = problemsText(problems.map(problem => toProblem(document.uri, problem)))
  const [first] = problems
  const label = problems.length === 1 && first ? first.message : l10n.t('{0} problems', problems.length)
  const short = label.replace(/\s+/g, ' ')
  return {
    id: randomUUID(),
    label: shortened(short, 60),
    icon: 'warning',
    detail: text,
    content: {
      type: 'resource',
      uri: `parley:problems/${encodeURIComponent(short.slice(0, 60))}`,
      mimeType: 'text/plain',
      text,
    },
  }
}
