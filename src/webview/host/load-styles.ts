const loading = new Map<string, Promise<void>>()

/**
 * Loads styles that lie beside the page's own: those of parts that most conversations begin without. Resolves when they
 * count, or can't be loaded.
 */
export function loadStyles(name: 'later' | 'math'): Promise<void> {
  const begun = loading.get(name)
  if (begun) return begun
  const own = document.querySelector<HTMLLinkElement>('link[rel="stylesheet"][href*="conversation.css"]')
  const loaded = new Promise<void>(resolve => {
    if (!own) return resolve()
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = own.href.replace('conversation.css', `${name}.css`)
    link.addEventListener('load', () => resolve())
    link.addEventListener('error', () => resolve())
    document.head.append(link)
  })
  loading.set(name, loaded)
  return loaded
}
