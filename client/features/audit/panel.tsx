import { Button, Skeleton, Stack } from '@chakra-ui/react'
import { actText } from '../../components/act-words.ts'
import { Time } from '../../components/cells/time.tsx'
import { ChangeList } from '../../components/changes.tsx'
import { DetailPanel } from '../../components/detail-panel.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import { ActorName, type Entry, nameOfTarget, Target } from './columns.tsx'

type EntryPanelProps = {
  /** 0: none. */
  id: number
  /** Where the page has it; what a link leads to is fetched. */
  shown: Entry | undefined
  onClose: () => void
  onTarget: (entry: Entry) => void
  onPrevious: (() => void) | undefined
  onNext: (() => void) | undefined
}

export function EntryPanel({ id, shown, onClose, onTarget, onPrevious, onNext }: EntryPanelProps) {
  const options = { enabled: id > 0 && !shown }
  const fetched = trpc.admin.audit.get.useQuery({ id: Math.max(1, id) }, options)
  const entry = shown ?? fetched.data
  return (
    <DetailPanel
      openId={id > 0 ? id : undefined}
      onClose={onClose}
      label={t('审计记录')}
      title={entry ? actText(entry.action) : t('审计记录')}
      subtitle={entry && nameOfTarget(entry)}
      onPrevious={onPrevious}
      onNext={onNext}
    >
      {!entry &&
        (fetched.error ? (
          <ErrorState error={fetched.error} onRetry={() => void fetched.refetch()} />
        ) : (
          <Skeleton h="40" aria-busy />
        ))}
      {entry && (
        <Stack gap="6">
          <Facts
            facts={[
              { label: t('时间'), value: <Time value={entry.createdAt} exact /> },
              { label: t('操作人'), value: <ActorName entry={entry} /> },
              { label: t('操作类型'), value: `${actText(entry.action)} (${entry.action})` },
              { label: t('对象'), value: <Target entry={entry} /> },
              { label: t('对象 ID'), value: entry.targetId },
              { label: t('原因'), value: entry.reason, hidden: entry.reason === '' },
              { label: t('IP 地址'), value: entry.clientIp, hidden: entry.clientIp === '' },
            ]}
          />
          <Section title={t('变化')}>
            <ChangeList before={entry.before} after={entry.after} />
          </Section>
          <Button variant="outline" alignSelf="flex-start" onClick={() => onTarget(entry)}>
            {t('该对象的全部记录')}
          </Button>
        </Stack>
      )}
    </DetailPanel>
  )
}
