import { Button, Center, Heading, Stack, Text } from '@chakra-ui/react'
import type { LucideIcon } from 'lucide-react'
import { CircleAlert, RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { t } from '../i18n/t.ts'
import { errorText } from '../lib/errors.ts'
import { useHeadingLevel } from './heading-level.ts'
import { Notice } from './notice.tsx'
import { RequestId } from './request-id.tsx'

type EmptyStateProps = {
  icon?: LucideIcon
  title: string
  /** One sentence on why there is nothing, or what to do. */
  description?: ReactNode
  /** The one button that changes it. */
  action?: ReactNode
  /** `h1` where this is all there is on the page. */
  headingLevel?: 'h1' | 'h2' | 'h3'
}

export function EmptyState({ icon: Icon, title, description, action, headingLevel }: EmptyStateProps) {
  const level = useHeadingLevel()
  return (
    <Center p="10" w="full">
      <Stack align="center" gap="2" maxW="sm" textAlign="center">
        {Icon && (
          <Center color="fg.subtle" mb="1">
            <Icon size={24} strokeWidth={1.5} aria-hidden />
          </Center>
        )}
        <Heading as={headingLevel ?? level} textStyle="md" fontWeight="medium">
          {title}
        </Heading>
        {description && (
          <Text color="fg.muted" textStyle="sm" textWrap="balance">
            {description}
          </Text>
        )}
        {action && <Center mt="3">{action}</Center>}
      </Stack>
    </Center>
  )
}

type ErrorStateProps = {
  error: unknown
  /** What could not be done. */
  title?: string
  onRetry: () => void
}

/** In place of content that could not be fetched. */
export function ErrorState({ error, title, onRetry }: ErrorStateProps) {
  return (
    <Center p="10" w="full" role="alert">
      <Stack align="center" gap="2" maxW="md" textAlign="center">
        <Center color="bad.fg" mb="1">
          <CircleAlert size={24} strokeWidth={1.5} aria-hidden />
        </Center>
        <Text fontWeight="medium">{title ?? t('加载失败')}</Text>
        <Text color="fg.muted" textStyle="sm" overflowWrap="anywhere">
          {errorText(error)}
        </Text>
        <RequestId error={error} color="fg.subtle" />
        <Button mt="3" onClick={onRetry}>
          <RotateCw aria-hidden />
          {t('重试')}
        </Button>
      </Stack>
    </Center>
  )
}

/** Beside a sentence on what failed. */
export function RetryButton({ onRetry }: { onRetry: () => unknown }) {
  return (
    <Button size="xs" onClick={() => void onRetry()}>
      {t('重试')}
    </Button>
  )
}

type FailureNoticeProps = {
  /** What is not known for want of what could not be fetched. */
  title: string
  error: unknown
  onRetry: () => void
  tone?: 'warning' | 'bad'
}

/** Above content that stands without what could not be fetched. */
export function FailureNotice({ title, error, onRetry, tone = 'bad' }: FailureNoticeProps) {
  return (
    <Notice tone={tone} isAlert title={title} action={<RetryButton onRetry={onRetry} />}>
      {errorText(error)}
    </Notice>
  )
}

type StaleNoticeProps = { error: unknown; onRetry: () => unknown }

/** Above what was fetched before: a failed refresh keeps it and says so. */
export function StaleNotice({ error, onRetry }: StaleNoticeProps) {
  return (
    <Notice tone="warning" isAlert action={<RetryButton onRetry={onRetry} />}>
      {t('刷新失败，显示的是之前的内容：{reason}', { reason: errorText(error) })}
    </Notice>
  )
}
