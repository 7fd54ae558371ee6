const { createRequire } = require('node:module')
const { join } = require('node:path')
const vscode = require('vscode')

/**
 * What Parley created since it was activated, for tests that record what it shows: the messages to the page in the side
 * bar, and what handles those from it. A test sets `onMessage` and `onOutput`, called when an output channel is shown.
 */
const created = { messages: [], toHost: undefined, onMessage: undefined, onOutput: undefined }

/** Before Parley is activated, since what it registers then can't be watched later. */
function watchParley() {
  const { extensionPath } = vscode.extensions.getExtension('parley.parley')
  // VS Code gives each extension an API of its own
  const { window } = createRequire(join(extensionPath, 'dist', 'extension.cjs'))('vscode')
  const register = window.registerWebviewViewProvider
  window.registerWebviewViewProvider = (id, provider, options) => {
    const watched = {
      resolveWebviewView(view, ...others) {
        watchPage(view.webview)
        return provider.resolveWebviewView(view, ...others)
      },
    }
    return register.call(window, id, watched, options)
  }
  const create = window.createOutputChannel
  window.createOutputChannel = (...args) => {
    const channel = create.apply(window, args)
    const show = channel.show.bind(channel)
    channel.show = (...how) => {
      created.onOutput?.()
      show(...how)
    }
    return channel
  }
}

function watchPage(webview) {
  const post = webview.postMessage.bind(webview)
  const listen = webview.onDidReceiveMessage.bind(webview)
  Object.defineProperties(webview, {
    postMessage: {
      value: message => {
        created.messages.push(message)
        created.onMessage?.(message)
        return post(message)
      },
    },
    onDidReceiveMessage: {
      value: listener => {
        created.toHost = listener
        return listen(listener)
      },
    },
  })
}

/** A custom editor of files named `*.bytes` whose content a test sets. */
class BytesEditor {
  #changes = new vscode.EventEmitter()
  /** what is shown, by path; absent if it's what is on disk */
  #contents = new Map()
  #open

  onDidChangeCustomDocument = this.#changes.event

  openCustomDocument(uri) {
    return { uri, dispose: () => this.#contents.delete(uri.fsPath) }
  }

  resolveCustomEditor(document) {
    this.#open = document
  }

  /** The user changes the content of the editor that was opened last. */
  type = content => {
    this.#contents.set(this.#open.uri.fsPath, content)
    this.#changes.fire({ document: this.#open })
  }

  async saveCustomDocument({ uri }) {
    await vscode.workspace.fs.writeFile(uri, Buffer.from(this.#contents.get(uri.fsPath)))
  }

  async saveCustomDocumentAs({ uri }, target) {
    await vscode.workspace.fs.writeFile(target, Buffer.from(this.#contents.get(uri.fsPath)))
  }

  async revertCustomDocument({ uri }) {
    this.#contents.delete(uri.fsPath)
  }

  async backupCustomDocument(_, { destination }) {
    return { id: destination.toString(), delete() {} }
  }
}

exports.activate = context => {
  watchParley()
  const bytes = new BytesEditor()
  context.subscriptions.push(vscode.window.registerCustomEditorProvider('parley-tests.bytes', bytes))
  return { secrets: context.secrets, created, typeBytes: bytes.type }
}
