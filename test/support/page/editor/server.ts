/** Serves the window's page, the webviews in it, and the messages between them and the extension, on this machine. */
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Webview } from './editors.ts'
import { options } from './options.ts'
import type { PageEvent, WindowPage } from './shown.ts'

/** An import looks at everything that it exports, and thus loads an HTTP client, which takes 70 ms for each window. */
const { createServer } = process.getBuiltinModule('node:http')

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.ttf': 'font/ttf',
  '.woff2': 'font/woff2',
}
const workbench = join(import.meta.dirname, '../workbench')
/** What webviews may load, as in VS Code (`localResourceRoots`), and the icons of tabs. */
const extensionFolders = /^(dist\/webview|media)\//

/** What happens in between shows only if messages take a while. */
const LATE_MS = Number(process.env.PARLEY_LATE_MS ?? 0)

/** Messages stay in their order. */
function late(deliver: () => void): void {
  if (LATE_MS > 0) setTimeout(deliver, LATE_MS)
  else deliver()
}

export interface Serving {
  page: WindowPage
  webview(id: string): Webview | undefined
}

/** Listens at once, so that the address is known; responds as soon as `serving` resolves. */
export async function servePage(serving: Promise<Serving>): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    respond(request, response, serving).catch(error => {
      response.writeHead(500).end(String(error))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('No port')
  return { server, port: address.port }
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  serving: Promise<Serving>,
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1')
  const { page, webview } = await serving
  const [, kind = '', id = ''] = pathname.split('/')
  if (kind === 'events') return sendEvents(response, page)
  if (kind === 'event') {
    const event = JSON.parse(await text(request)) as PageEvent
    late(() => page.receive(event))
    response.writeHead(204).end()
    return
  }
  if (kind === 'webview') {
    const html = webview(id)?.html
    if (html === undefined) return notFound(response)
    const script = `<script>(${api})(${JSON.stringify(id)}, ${JSON.stringify(webview(id)?.state ?? null)})</script>`
    const styles = `<style id="_defaultStyles">${await readFile(join(workbench, 'webview.css'), 'utf8')}</style>`
    response.writeHead(200, { 'content-type': TYPES['.html'] })
    // before the page's own policy, like VS Code
    response.end(html.replace('<head>', () => `<head>${script}${styles}`))
    return
  }
  if (kind === 'states') {
    response.writeHead(200, { 'content-type': TYPES['.json'] }).end(JSON.stringify(options.states ?? []))
    return
  }
  if (kind === 'extension') {
    const path = normalize(decodeURIComponent(pathname.slice('/extension/'.length)))
    if (!extensionFolders.test(path)) return notFound(response)
    return sendFile(response, join(options.extension, path))
  }
  const name = kind === '' ? 'index.html' : kind
  if (!/^[\w-]+\.\w+$/.test(name)) return notFound(response)
  return sendFile(response, join(workbench, name))
}

function sendEvents(response: ServerResponse, page: WindowPage): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  const send = (event: object) => {
    const line = `data: ${JSON.stringify(event)}\n\n`
    late(() => response.writable && response.write(line))
  }
  send({ type: 'window', window: page.shown })
  const following = [
    page.onDidChange(window => send({ type: 'window', window })),
    page.onMessage(message => send({ type: 'message', ...message })),
  ]
  response.on('close', () => {
    for (const one of following) one.dispose()
  })
}

async function sendFile(response: ServerResponse, file: string): Promise<void> {
  const content = await readFile(file).catch(() => undefined)
  if (!content) return notFound(response)
  const type = TYPES[extname(file)] ?? 'application/octet-stream'
  response.writeHead(200, { 'content-type': type, 'access-control-allow-origin': '*' })
  response.end(content)
}

function notFound(response: ServerResponse): void {
  response.writeHead(404).end()
}

/** Runs in the webview, before anything of the page: VS Code's API for webviews. */
const api = `(id, stored) => {
  let state = stored ?? undefined
  let isAcquired = false
  const tell = event => parent.postMessage({ webview: id, ...event }, '*')
  globalThis.acquireVsCodeApi = () => {
    if (isAcquired) throw new Error('An instance of the VS Code API has already been acquired')
    isAcquired = true
    return Object.freeze({
      postMessage: message => tell({ type: 'message', message }),
      setState(next) {
        state = next
        tell({ type: 'state', state })
        return next
      },
      getState: () => state,
    })
  }
  const { look } = parent
  const wear = ({ style, classes, data }) => {
    const { documentElement, body } = document
    const own = [...documentElement.style].filter(name => name.startsWith('--parley-'))
    const kept = own.map(name => [name, documentElement.style.getPropertyValue(name)])
    documentElement.style.cssText = style
    for (const [name, value] of kept) documentElement.style.setProperty(name, value)
    body.className = [...[...body.classList].filter(name => !name.startsWith('vscode-')), ...classes].join(' ')
    Object.assign(body.dataset, data)
  }
  globalThis.wearLook = wear
  document.documentElement.style.cssText = look.style
  // the body, as soon as it exists, before it's painted
  new MutationObserver((_, observer) => {
    if (!document.body) return
    observer.disconnect()
    wear(look)
  }).observe(document.documentElement, { childList: true })
  addEventListener('keydown', ({ key, ctrlKey, metaKey, shiftKey, altKey }) => {
    if (ctrlKey || metaKey || altKey || key.length === 1 || key.startsWith('Arrow'))
      tell({ type: 'key', key, ctrl: ctrlKey || metaKey, shift: shiftKey, alt: altKey })
  })
  addEventListener('contextmenu', event => {
    event.preventDefault()
    const around = [...function* () {
      for (let at = event.target; at; at = at.parentElement) if (at.dataset?.vscodeContext) yield JSON.parse(at.dataset.vscodeContext)
    }()]
    tell({ type: 'contextMenu', context: Object.assign({}, ...around.reverse()), x: event.clientX, y: event.clientY })
  })
  addEventListener('click', event => {
    const link = event.target.closest?.('a[href]')
    if (!link || event.defaultPrevented || link.getAttribute('href').startsWith('#')) return
    event.preventDefault()
    tell({ type: 'link', url: link.href })
  })
}`
