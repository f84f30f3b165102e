"""Keys in the shapes of vendors, put together here so that no file holds one."""

from __future__ import annotations

import random
import string

LOWER_HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "-_"


def drawn(alphabet, length, seed=0):
    """Return ``length`` characters that hold a digit and letters, the same each time."""
    return "a7B"[: 3 if set("a7B") <= set(alphabet) else 0] + "".join(
        random.Random(f"{alphabet}{length}{seed}").choices(
            alphabet, k=length - (3 if set("a7B") <= set(alphabet) else 0)
        )
    )


def pem_edge(word):
    """Return the line a private key begins or ends with."""
    return f"-----{word} PRIVATE KEY-----"


def vendor_samples(seed=0):
    """Map a vendor's name and shape to a key of it."""

    def hexed(n):
        return drawn(LOWER_HEX, n, seed)

    def alnum(n):
        return drawn(ALNUM, n, seed)

    def safe(n):
        return drawn(URLSAFE, n, seed)

    def upper(n):
        return "7" + drawn(UPPER, n - 1, seed)

    web = "ey" + "J"
    return {
        "OpenAI project": "sk-" + "proj-" + safe(120),
        "OpenAI service": "sk-" + "svcacct-" + safe(100),
        "OpenAI old": "sk-" + alnum(20) + "T3Blbk" + "FJ" + alnum(20),
        "DeepSeek": "sk-" + hexed(32),
        "gateway": "sk-" + alnum(22),
        "Anthropic": "sk-" + "ant-api03-" + safe(93) + "AA",
        "Anthropic admin": "sk-" + "ant-admin01-" + safe(93) + "AA",
        "OpenRouter": "sk-" + "or-v1-" + hexed(64),
        "Langfuse": "sk-" + "lf-" + "-".join([hexed(8), hexed(4), hexed(4), hexed(4), hexed(12)]),
        "Stripe live": "sk_" + "live_" + alnum(24),
        "Stripe restricted": "rk_" + "live_" + alnum(99),
        "Stripe webhook": "whsec" + "_" + alnum(32),
        "ElevenLabs": "sk" + "_" + hexed(48),
        "Groq": "gsk" + "_" + alnum(52),
        "Cerebras": "csk" + "-" + drawn(string.ascii_lowercase + string.digits, 48, seed),
        "xAI": "xai" + "-" + alnum(80),
        "Perplexity": "pplx" + "-" + alnum(48),
        "NVIDIA": "nvapi" + "-" + safe(64),
        "Replicate": "r8" + "_" + alnum(37),
        "Hugging Face": "hf" + "_" + drawn(string.ascii_letters, 34, seed),
        "LangSmith": "lsv2" + "_pt_" + hexed(32) + "_" + hexed(10),
        "Pinecone": "pcsk" + "_" + alnum(6) + "_" + alnum(63),
        "Tavily": "tvly" + "-" + alnum(32),
        "Firecrawl": "fc" + "-" + hexed(32),
        "Google": "AI" + "za" + safe(35),
        "Google OAuth": "GOCS" + "PX-" + safe(28),
        "AWS id": "AK" + "IA" + upper(16),
        "AWS temporary id": "AS" + "IA" + upper(16),
        "AWS secret": "aws_secret_access_key" + " = " + alnum(40),
        "Azure storage": "AccountName=x;Account" + "Key=" + alnum(86) + "==",
        "GitHub": "gh" + "p_" + alnum(36),
        "GitHub app": "gh" + "s_" + alnum(36),
        "GitHub fine": "github" + "_pat_" + alnum(22) + "_" + alnum(59),
        "GitLab": "gl" + "pat-" + alnum(20),
        "Slack bot": "xox" + "b-" + "123456789012-1234567890123-" + alnum(24),
        "Slack app": "xap" + "p-1-A0123456789-1234567890123-" + hexed(64),
        "Slack address": "https://hooks.slack" + ".com/services/T01234567/B01234567/" + alnum(24),
        "Discord address": "https://discord.com/api/web" + "hooks/123456789012345678/" + safe(68),
        "Discord": "M" + alnum(23) + "." + alnum(6) + "." + alnum(38),
        "Telegram": "1234567890" + ":A" + "A" + safe(33),
        "SendGrid": "S" + "G." + alnum(22) + "." + alnum(43),
        "Twilio": "S" + "K" + hexed(32),
        "Mailgun": "key" + "-" + hexed(32),
        "npm": "npm" + "_" + alnum(36),
        "PyPI": "pyp" + "i-AgEIcHlwaS5vcmc" + safe(60),
        "DigitalOcean": "dop" + "_v1_" + hexed(64),
        "Linear": "lin" + "_api_" + alnum(40),
        "Notion": "ntn" + "_" + alnum(46),
        "Databricks": "da" + "pi" + hexed(32),
        "Sentry": "sntry" + "s_" + alnum(80),
        "Shopify": "shp" + "at_" + hexed(32),
        "Supabase": "sb" + "p_" + hexed(40),
        "Vault": "hv" + "s." + alnum(24),
        "Postman": "PM" + "AK-" + hexed(24) + "-" + hexed(34),
        "Figma": "fig" + "d_" + alnum(40),
        "Airtable": "pa" + "t" + alnum(14) + "." + hexed(64),
        "Atlassian": "ATA" + "TT3" + alnum(186),
        "Grafana": "gl" + "sa_" + alnum(32) + "_" + hexed(8),
        "Docker": "dckr" + "_pat_" + safe(27),
        "Terraform": alnum(14) + ".atlas" + "v1." + alnum(67),
        "Pulumi": "pu" + "l-" + hexed(40),
        "Jina": "ji" + "na_" + hexed(32) + alnum(28),
        "Bedrock": "AB" + "SK" + alnum(120) + "=",
        "Vercel": "vercel" + "_blob_rw_" + alnum(16) + "_" + alnum(32),
        "Mailchimp": hexed(32) + "-u" + "s12",
        "Google refresh": "1/" + "/0" + safe(100),
        "New Relic": "NR" + "AK-" + upper(27),
        "private key": "\n".join([pem_edge("BEGIN"), alnum(64), alnum(40), pem_edge("END")]),
        "web token": web + alnum(30) + "." + web + alnum(60) + "." + safe(43),
        "bearer": "Authorization: Bearer " + alnum(40),
        "basic": "Authorization: Basic " + alnum(28),
        "address with a password": "postgres://ada:" + alnum(12) + "@db.example.org/shop",
    }
