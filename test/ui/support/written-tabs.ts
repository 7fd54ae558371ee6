import type { Page } from 'playwright-core'

/**
 * What the browser has written down of the editor tabs, which is what a reload restores: it does so a moment after
 * they changed, in a database of its own.
 */
export function writtenTabs(page: Page): Promise<string> {
  return page.evaluate<string>(read)
}

/** In the page. */
const read = `(async () => {
  const ask = request => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  const found = []
  for (const { name } of await indexedDB.databases()) {
    if (!name?.startsWith('vscode-web-state-db-')) continue
    const database = await ask(indexedDB.open(name))
    try {
      const store = database.transaction('ItemTable').objectStore('ItemTable')
      found.push(await ask(store.get('memento/workbench.parts.editor')))
    } finally {
      database.close()
    }
  }
  return found.join()
})()`
