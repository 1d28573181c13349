# bucketsum as a CloudFormation stack in Terraform: docs/how-to/terraform.md.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "template" {
  description = "Path of packaged.yaml, which `make package` writes."
  type        = string
}

variable "package_bucket" {
  description = "Bucket that `make package` uploaded the code to, in the Region of the provider."
  type        = string
}

variable "stack_name" {
  description = "Lower case, with at most 35 characters."
  type        = string
  default     = "bucketsum"
}

variable "parameters" {
  description = "Parameters of the template (docs/reference/parameters.md); others keep their defaults."
  type        = map(string)
  default     = {}
}

# Larger than the 51,200 bytes that CloudFormation takes in a request.
resource "aws_s3_object" "template" {
  bucket      = var.package_bucket
  key         = "${var.stack_name}/${filesha256(var.template)}.yaml"
  source      = var.template
  source_hash = filesha256(var.template)
}

data "aws_s3_bucket" "package" {
  bucket = var.package_bucket
}

resource "aws_cloudformation_stack" "bucketsum" {
  name         = var.stack_name
  template_url = "https://${data.aws_s3_bucket.package.bucket_regional_domain_name}/${aws_s3_object.template.key}"
  parameters   = var.parameters
  capabilities = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]

  lifecycle {
    prevent_destroy = true # `bucketsum delete` empties its buckets first
  }
}

output "arrivals_queue_arn" {
  description = "For the `queue` block of aws_s3_bucket_notification that `bucketsum attach` prints."
  value       = aws_cloudformation_stack.bucketsum.outputs["ArrivalsQueueArn"]
}

output "bucket" {
  description = "The bucket that the stack created."
  value       = aws_cloudformation_stack.bucketsum.outputs["BucketName"]
}
