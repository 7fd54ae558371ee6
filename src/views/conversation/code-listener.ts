import type { Roots } from '../../acp/model.ts'
import { type CodeToApply, insertCode, openText } from '../../editor/vscode-code.ts'
import { openContent } from '../../editor/vscode-content.ts'
import * as bridge from '../bridge/code.ts'
import * as incoming from '../bridge/incoming-code.ts'
import type { WebviewConnection } from '../webview-connection.ts'

export interface CodeListenerOptions {
  apply(code: CodeToApply, roots: Roots | undefined): Promise<void>
  roots(): Roots | undefined
  /** Says what did not work. */
  tell(done: Promise<void>): Promise<void>
}

/** What a person does with a piece of code of the conversation. */
export function listenForCode(
  connection: WebviewConnection,
  { apply, roots, tell }: CodeListenerOptions,
): void {
  connection.onNotification(bridge.InsertCode, incoming.insertCode, ({ text }) => tell(insertCode(text)))
  connection.onNotification(bridge.OpenText, incoming.openText, ({ text, language }) =>
    tell(openText(text, language)),
  )
  connection.onNotification(bridge.OpenBlob, incoming.openBlob, ({ name, mimeType, data }) =>
    tell(openContent(name, mimeType, Buffer.from(data, 'base64'))),
  )
  connection.onNotification(bridge.ApplyCode, incoming.applyCode, code => tell(apply(code, roots())))
}
