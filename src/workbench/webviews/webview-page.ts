import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as vscode from 'vscode'
import { PLACE_PREVIEW, previewHtml } from '../../app/page-preview.ts'
import type { Preview } from '../../bridge/preview.ts'
import { escapeHtml } from '../../common/escape-html.ts'
import { pathOnDisk } from '../path-on-disk.ts'

export interface WebviewPageOptions {
  /** The script's name in `dist/webview/`. */
  name: 'conversation' | 'history' | 'agents' | 'mcp' | 'compare' | 'inspector'
  title: string
  /** The name of the page's style file, if it differs. */
  styles?: 'pages'
}

/** JSON, inserted by the build: by page name, the files that the page initially loads besides its script and styles. */
declare const FIRST_FILES: string

export const CONVERSATION_PAGE: WebviewPageOptions = { name: 'conversation', title: 'Parley' }
export const HISTORY_PAGE = (): WebviewPageOptions => ({ name: 'history', title: vscode.l10n.t('History') })
export const AGENTS_PAGE = () => smallPage('agents', vscode.l10n.t('Manage Agents'))
export const MCP_PAGE = () => smallPage('mcp', vscode.l10n.t('MCP Servers'))
export const COMPARE_PAGE = () => smallPage('compare', vscode.l10n.t('Compare Agents'))
export const INSPECTOR_PAGE = () => smallPage('inspector', vscode.l10n.t('Protocol Traffic'))

function smallPage(name: WebviewPageOptions['name'], title: string): WebviewPageOptions {
  return { name, title, styles: 'pages' }
}

/**
 * A page in a webview, which starts to load on construction. Messages are queued for the first listener, so that the page
 * and the code that handles its messages can load at the same time.
 */
export class WebviewPage {
  readonly #webview: vscode.Webview
  #isDisposed = false
  #early: unknown[] = []
  #listener: ((message: unknown) => void) | undefined

  constructor(
    view: vscode.WebviewView | vscode.WebviewPanel,
    extensionUri: vscode.Uri,
    options: WebviewPageOptions,
    preview?: Preview,
  ) {
    const { webview } = view
    this.#webview = webview
    view.onDidDispose(() => {
      this.#isDisposed = true
    })
    webview.onDidReceiveMessage((message: unknown) => {
      if (this.#listener) this.#listener(message)
      else this.#early.push(message)
    })
    webview.options = {
      enableScripts: true,
      localResourceRoots: [vscode.Uri.joinPath(extensionUri, 'dist', 'webview')],
    }
    webview.html = webviewHtml(webview, extensionUri, options, preview)
  }

  /** Whether VS Code has closed the view or tab. */
  get isDisposed(): boolean {
    return this.#isDisposed
  }

  /** Delivers the page's messages to the listener, starting with the queued messages. There is one listener at a time. */
  listen(listener: (message: unknown) => void): vscode.Disposable {
    this.#listener = listener
    for (const message of this.#early.splice(0)) listener(message)
    return new vscode.Disposable(() => {
      if (this.#listener === listener) this.#listener = () => {}
    })
  }

  /** Resolves to whether the page accepted the message; VS Code queues it while the page loads. */
  post(message: unknown): Thenable<boolean> {
    return this.#webview.postMessage(message)
  }
}

/**
 * Returns the HTML of a webview. Scripts run only with this page's nonce or from the extension's bundle (lazy chunks),
 * styles come only from the bundle and its scripts, agents may inline images (`data:`), and nothing is loaded from the
 * network.
 */
function webviewHtml(
  webview: vscode.Webview,
  extensionUri: vscode.Uri,
  page: WebviewPageOptions,
  preview: Preview | undefined,
): string {
  const nonce = randomBytes(16).toString('base64')
  const folder = vscode.Uri.joinPath(extensionUri, 'dist', 'webview')
  const folderUrl = webview.asWebviewUri(folder).toString()
  const asset = (file: string) => `${folderUrl}/${file}`
  // listed in the page, so that they load at the same time as the script
  const firstFiles: Record<string, string[] | undefined> = JSON.parse(FIRST_FILES)
  const script = `${page.name}.js`
  const preloads = [...(firstFiles[page.name] ?? []), script].map(file => {
    const kind = file.endsWith('.js')
      ? `rel="modulepreload" nonce="${nonce}"`
      : 'rel="preload" as="font" crossorigin'
    return `<link ${kind} href="${escapeHtml(asset(file))}">`
  })
  // in the page itself, so that a preview is shown without waiting for anything
  const styles = readFileSync(
    pathOnDisk(vscode.Uri.joinPath(folder, `${page.styles ?? page.name}.css`)),
    'utf8',
  ).replaceAll('url("./', `url("${folderUrl}/`)
  const below = `${vscode.l10n.t('Looking for agents on this machine…')} ${vscode.l10n.t('Cancel')}`
  const previewed = preview
    ? `${previewHtml(preview, below)}\n<script nonce="${nonce}">${PLACE_PREVIEW}</script>`
    : ''
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' ${webview.cspSource}`,
    `style-src 'nonce-${nonce}' ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data:`,
    'media-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return `<!DOCTYPE html>
<html lang="${escapeHtml(vscode.env.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}">
<script nonce="${nonce}">${KEEP_EARLY_MESSAGES}; ${LOAD_FILES}</script>
<style nonce="${nonce}">${styles}</style>
<title>${escapeHtml(page.title)}</title>
</head>
<body data-view="${page.name}">
<div id="root"></div>
${previewed}
<script type="application/json" id="l10n" nonce="${nonce}">${jsonForHtml(stringsOf(vscode.l10n.bundle))}</script>
<template id="files" data-script="${escapeHtml(asset(script))}">
${preloads.join('\n')}
</template>
</body>
</html>`
}

/** Queues messages until the page's script listens (`connectToHost`). */
const KEEP_EARLY_MESSAGES =
  'earlyMessages = []; addEventListener("message", keepMessage = event => earlyMessages.push(event))'

/**
 * Loads the page's files after its `load` event: VS Code shows a page and delivers its messages when it has loaded, or
 * 200 ms after it was written, so its first content would have to wait for the files. Tries again if VS Code can't deliver
 * the script, as in a window that has lost its connection: otherwise, the page would stay empty.
 */
const LOAD_FILES =
  'load = () => import(files.dataset.script).catch(() => setTimeout(load, 2e3)); onload = () => { document.head.append(files.content); load() }'

/** Returns JSON that can't end the script element that contains it. */
function jsonForHtml(value: unknown): string {
  return JSON.stringify(value).replace(/</g, '\\u003c')
}

/** Returns the translations by English text; empty for English. VS Code's bundle may contain comments with a message. */
function stringsOf(bundle: Record<string, unknown> | undefined): Record<string, string> {
  const strings: Record<string, string> = {}
  for (const [key, value] of Object.entries(bundle ?? {})) {
    const text = typeof value === 'string' ? value : (value as { message?: unknown } | null)?.message
    if (text !== undefined) strings[key] = String(text)
  }
  return strings
}
