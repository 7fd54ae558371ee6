import type { Page } from 'playwright-core'

/**
 * The stored editor tabs, which a reload restores. The browser stores them in its database a moment after they changed.
 */
export function storedTabs(page: Page): Promise<string> {
  return page.evaluate<string>(read)
}

/** Runs in the page. */
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
