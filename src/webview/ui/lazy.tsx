import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** Stands in the place of a part that is being loaded; it is not seen. */
export const LOADING_PART = 'loading-part'
export function LoadingPart() {
  return <span class={LOADING_PART} hidden />
}

/** A component that loads when it is first drawn; until then nothing is seen in its place. */
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
      // what cannot be loaded leaves its place empty; the page itself came from the same folder
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
