import { randomBytes } from 'node:crypto'
import * as vscode from 'vscode'

export interface WebviewPage {
  /** the bundle's name in `dist/webview/` */
  name: 'conversation' | 'history'
  title: string
}

/** Fills a webview with a page. Handlers of its messages are registered before. */
export function openPage(webview: vscode.Webview, extensionUri: vscode.Uri, page: WebviewPage): void {
  webview.options = {
    enableScripts: true,
    localResourceRoots: [vscode.Uri.joinPath(extensionUri, 'dist', 'webview')],
  }
  webview.html = webviewHtml(webview, extensionUri, page)
}

/**
 * The whole HTML of a webview. Scripts run only with this page's nonce or from the extension's own bundle (lazy chunks),
 * styles come only from the bundle and from its scripts, images may be inlined by an agent (`data:`), nothing is loaded from the network.
 */
function webviewHtml(webview: vscode.Webview, extensionUri: vscode.Uri, page: WebviewPage): string {
  const nonce = randomBytes(16).toString('base64')
  const asset = (file: string) =>
    webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, 'dist', 'webview', file)).toString()
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
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${escapeHtml(asset(`${page.name}.css`))}">
<title>${escapeHtml(page.title)}</title>
</head>
<body data-view="${page.name}">
<div id="root"></div>
<script type="application/json" id="l10n" nonce="${nonce}">${jsonForHtml(stringsOf(vscode.l10n.bundle))}</script>
<script type="module" nonce="${nonce}" src="${escapeHtml(asset(`${page.name}.js`))}"></script>
</body>
</html>`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, char => `&#${char.charCodeAt(0)};`)
}

/** JSON that cannot end the script element it stands in. */
function jsonForHtml(value: unknown): string {
  return JSON.stringify(value).replace(/</g, '\\u003c')
}

/** English text → translation, empty in English. VS Code's bundle may carry comments beside a message. */
function stringsOf(bundle: Record<string, unknown> | undefined): Record<string, string> {
  const strings: Record<string, string> = {}
  for (const [key, value] of Object.entries(bundle ?? {})) {
    if (typeof value === 'string') strings[key] = value
    else if (typeof value === 'object' && value !== null && 'message' in value)
      strings[key] = String(value.message)
  }
  return strings
}
