/** Creates chips for the target of a context menu of VS Code. */

import { randomUUID } from 'node:crypto'
import path from 'node:path'
import * as vscode from 'vscode'
import * as z from 'zod'
import { shortened } from '../../common/visible.ts'
import type { Attachment } from '../../conversation/attachment.ts'
import { attachmentsFor, changesAttachment, linesAttachment } from './attachments.ts'
import { rememberPicked } from './sources.ts'

/** Longer text of a comment, a test or a variable is truncated. UTF-16 units. */
const MAX_TEXT = 100_000

const uri = z.custom<vscode.Uri>(value => value instanceof vscode.Uri)
const resource = z.object({ resourceUri: uri })
/** a group in Git's view: a prompt can contain its staged changes as a diff */
const group = z.object({ id: z.string(), resourceStates: z.array(z.unknown()) })
const lineNumber = z.object({ uri, lineNumber: z.number().int().positive() })
const testItem = z.object({ label: z.string(), uri, range: z.instanceof(vscode.Range).optional() })
const testMessage = z.object({
  test: z.object({ label: z.string() }),
  message: z.object({
    message: z.union([z.string(), z.object({ value: z.string() })]),
    expectedOutput: z.string().optional(),
    actualOutput: z.string().optional(),
    location: z.object({ uri, range: z.instanceof(vscode.Range) }).optional(),
  }),
})
const variable = z.object({
  variable: z.object({ name: z.string(), value: z.string(), type: z.string().optional() }),
})
const commentThread = z.object({
  uri,
  range: z.instanceof(vscode.Range).optional(),
  comments: z.array(
    z.object({
      body: z.union([z.string(), z.object({ value: z.string() })]),
      author: z.object({ name: z.string() }),
    }),
  ),
})

/**
 * Resolves to attachments for the arguments that VS Code passes to a command of a context menu: the clicked item, then all
 * selected items. Files that users choose this way may be read for prompts, wherever they are.
 */
export async function menuAttachments(args: readonly unknown[]): Promise<Attachment[]> {
  const [one, several] = args
  const selected = Array.isArray(several) && several.length > 0 ? several : args
  const uris = urisIn(selected)
  if (uris.length > 0) return files(uris)
  const pressed = group.safeParse(one)
  if (pressed.success) {
    const { id, resourceStates } = pressed.data
    if (id === 'index' || id === 'workingTree') return [changesAttachment(id === 'index')]
    return files(urisIn(resourceStates))
  }
  const thing = attachmentOfThing(one)
  return thing ? [thing] : []
}

async function files(uris: readonly vscode.Uri[]): Promise<Attachment[]> {
  const local = uris.filter(({ scheme }) => scheme === 'file')
  await rememberPicked(local)
  return attachmentsFor(local)
}

/** Returns the URIs of files and folders, including files in Source Control, without duplicates. */
function urisIn(selected: readonly unknown[]): vscode.Uri[] {
  const found = selected.flat().flatMap(item => {
    if (item instanceof vscode.Uri) return item
    return resource.safeParse(item).data?.resourceUri ?? []
  })
  return [...new Map(found.map(one => [one.toString(), one])).values()]
}

function attachmentOfThing(thing: unknown): Attachment | undefined {
  const line = lineNumber.safeParse(thing)
  if (line.success) return linesAttachment(line.data.uri, line.data.lineNumber, line.data.lineNumber)
  const message = testMessage.safeParse(thing)
  if (message.success) return ofTestMessage(message.data)
  const thread = commentThread.safeParse(thing)
  if (thread.success) return ofCommentThread(thread.data)
  const test = testItem.safeParse(thing)
  if (test.success) return ofTest(test.data)
  const inspected = variable.safeParse(thing)
  if (inspected.success) return ofVariable(inspected.data.variable)
  return undefined
}

function ofTest({ label, uri, range }: z.infer<typeof testItem>): Attachment {
  const [start, end] = range ? [range.start.line + 1, range.end.line + 1] : [1, 1]
  return { ...linesAttachment(uri, start, end), label, icon: 'beaker' }
}

function ofTestMessage({ test, message }: z.infer<typeof testMessage>): Attachment {
  const { location, expectedOutput, actualOutput } = message
  const where =
    location && `${vscode.workspace.asRelativePath(location.uri)}:${location.range.start.line + 1}`
  const parts = [
    `${test.label}${where ? ` (${where})` : ''}`,
    textOf(message.message),
    ...(expectedOutput === undefined ? [] : [`Expected:\n${expectedOutput}`]),
    ...(actualOutput === undefined ? [] : [`Actual:\n${actualOutput}`]),
  ]
  return written('beaker', 'test', test.label, parts.join('\n\n'))
}

function ofCommentThread({ uri, range, comments }: z.infer<typeof commentThread>): Attachment | undefined {
  if (comments.length === 0) return undefined
  const line = range ? `:${range.start.line + 1}` : ''
  const said = comments.map(({ body, author }) => `${author.name}: ${textOf(body)}`)
  const text = [`${vscode.workspace.asRelativePath(uri)}${line}`, ...said].join('\n\n')
  return written('comment', 'comments', `${path.posix.basename(uri.path)}${line}`, text)
}

function ofVariable({ name, value, type }: z.infer<typeof variable>['variable']): Attachment {
  const text = `${name}${type ? `: ${type}` : ''} = ${value}`
  return written('symbol-variable', 'variable', name, text)
}

function textOf(text: string | { value: string }): string {
  return typeof text === 'string' ? text : text.value
}

/** Returns an attachment with the text. `kind` and `name` identify its chip after the prompt was sent. */
function written(icon: string, kind: string, name: string, text: string): Attachment {
  const cut = shortened(text, MAX_TEXT)
  const label = name.replace(/\s+/g, ' ').slice(0, 60)
  return {
    id: randomUUID(),
    label,
    icon,
    detail: shortened(cut, 400),
    content: {
      type: 'resource',
      uri: `parley:${kind}/${encodeURIComponent(label)}`,
      mimeType: 'text/plain',
      text: cut,
    },
  }
}
