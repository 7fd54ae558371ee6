import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** An invisible placeholder for a part that is being loaded. */
export const LOADING_PART = 'loading-part'
export function LoadingPart() {
  return <span class={LOADING_PART} hidden />
}

/** A component that is loaded when it's first rendered; until then, its place is empty. */
export function lazy<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<P> {
  let Loaded: FunctionComponent<P> | undefined
  return function Lazy(props: P) {
    const [, setLoaded] = useState(false)
    useEffect(() => {
      if (Loaded) {
        setLoaded(true)
        return
      }
      let gone = false
      // if loading fails, its place stays empty; unlikely, since the page itself came from the same folder
      void load().then(
        component => {
          Loaded = component
          if (!gone) setLoaded(true)
        },
        () => undefined,
      )
      return () => {
        gone = true
      }
    }, [])
    return Loaded ? <Loaded {...props} /> : <LoadingPart />
  }
}

const loading = new Map<string, Promise<void>>()

/** Loads styles that most pages don't need at first. Resolves when they're applied, or can't be loaded. */
export function loadStyles(name: 'later' | 'math' | 'icons'): Promise<void> {
  const begun = loading.get(name)
  if (begun) return begun
  const script = document.getElementById('files')?.dataset.script
  const loaded = new Promise<void>(resolve => {
    if (!script) return resolve()
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = script.replace(/\w+\.js$/, `${name}.css`)
    link.addEventListener('load', () => resolve())
    link.addEventListener('error', () => resolve())
    document.head.append(link)
  })
  loading.set(name, loaded)
  return loaded
}
