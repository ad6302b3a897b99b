import { Button, HStack, Stack, Text } from '@chakra-ui/react'
import { CodeBlock } from '../../components/code-block.tsx'
import { PlainDialog } from '../../components/plain-dialog.tsx'
import { t } from '../../i18n/t.ts'

/** Shown this once. */
export function RecoveryCodes({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  const text = codes.join('\n')
  return (
    <PlainDialog title={t('保存恢复码')} onClose={onClose}>
      <Stack gap="4">
        <Text textStyle="sm">
          {t('丢失身份验证器或通行密钥时，可以用恢复码登录，每个只能用一次。它们只显示这一次，请妥善保存。')}
        </Text>
        <CodeBlock title={t('恢复码')} code={text} />
        <HStack gap="2">
          <Button variant="solid" onClick={onClose}>
            {t('我已保存')}
          </Button>
          <Button asChild>
            <a href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`} download="recovery-codes.txt">
              {t('下载')}
            </a>
          </Button>
        </HStack>
      </Stack>
    </PlainDialog>
  )
}
