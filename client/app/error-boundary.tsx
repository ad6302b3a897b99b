import type { ReactNode } from 'react'
import { Component } from 'react'
import { ErrorState } from '../components/states.tsx'
import { t } from '../i18n/t.ts'
import { isUnreachable } from '../lib/errors.ts'
import { forgetMissingPages } from './pages.ts'

type Props = { children: ReactNode; resetKey: string }
type State = { error: unknown; resetKey: string }

/** React offers no other way than a class to catch what a page throws while it is drawn. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: undefined, resetKey: this.props.resetKey }

  static getDerivedStateFromError = (error: unknown): Partial<State> => ({ error })

  /** Going to another page is a new attempt. */
  static getDerivedStateFromProps = (props: Props, state: State): Partial<State> | null =>
    props.resetKey === state.resetKey ? null : { error: undefined, resetKey: props.resetKey }

  override componentDidCatch = forgetMissingPages

  /** A page that cannot be fetched is mostly one of an older build: only a reload brings the new one. Without a network it would bring nothing. */
  private readonly retry = (): void => {
    if (navigator.onLine) window.location.reload()
    else this.setState({ error: undefined })
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    const title = isUnreachable(error) ? t('加载失败') : t('页面出错了')
    return <ErrorState error={error} title={title} onRetry={this.retry} />
  }
}
