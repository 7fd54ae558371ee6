import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { t } from '../l10n.ts'

/** An invisible placeholder for a part that is being loaded. */
export const LOADING_PART = 'loading-part'
export function LoadingPart() {
  return <span class={LOADING_PART} hidden />
}

/** A component that is loaded on demand. After `preload` resolves, it's drawn without delay. */
type LazyComponent<P> = FunctionComponent<P> & { preload: () => Promise<void> }

/**
 * Returns a component that is loaded when it's first rendered; its place is empty until then. If loading fails, the place shows an error,
 * and loading is retried when the user asks or when the component is rendered elsewhere.
 */
export function lazy<P extends object>(load: () => Promise<FunctionComponent<P>>): LazyComponent<P> {
  let Loaded: FunctionComponent<P> | undefined
  const preload = async () => {
    Loaded = await load()
  }
  return Object.assign(Lazy, { preload })

  function Lazy(props: P) {
    const [step, setStep] = useState<'loading' | 'loaded' | 'failed'>('loading')
    useEffect(() => {
      if (step !== 'loading') return
      if (Loaded) {
        setStep('loaded')
        return
      }
      let gone = false
      void preload().then(
        () => {
          if (!gone) setStep('loaded')
        },
        () => {
          if (!gone) setStep('failed')
        },
      )
      return () => {
        gone = true
      }
    }, [step])
    if (Loaded) return <Loaded {...props} />
    if (step !== 'failed') return <LoadingPart />
    return (
      <span class="quiet">
        {t("This part couldn't be loaded.")}{' '}
        <button type="button" class="link-button" onClick={() => setStep('loading')}>
          {t('Retry')}
        </button>
      </span>
    )
  }
}

/** Like {@link lazy}, for a component with styles that the conversation's page doesn't load at first. */
export const lazyWithStyles = <P extends object>(load: () => Promise<FunctionComponent<P>>) =>
  lazy(async () => {
    const [component] = await Promise.all([load(), loadStyles('later')])
    return component
  })

const loading = new Map<string, Promise<void>>()

/** Loads styles that most pages don't need at first. Resolves when the styles are applied or loading them has failed. */
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
    link.addEventListener('error', () => {
      loading.delete(name)
      link.remove()
      resolve()
    })
    document.head.append(link)
  })
  loading.set(name, loaded)
  return loaded
}
